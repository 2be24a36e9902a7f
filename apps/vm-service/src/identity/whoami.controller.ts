import { Controller, Get } from '@nestjs/common';
import type { WhoamiView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import { CallerIdentity } from './caller-identity.js';
import { CurrentCaller } from './caller.decorator.js';

@Controller('api/whoami')
export class WhoamiController {
  constructor(private readonly identity: CallerIdentity) {}

  @Get()
  whoami(@CurrentCaller() caller: Caller): WhoamiView {
    return this.identity.whoami(caller);
  }
}
