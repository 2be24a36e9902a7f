import { Controller, Get } from '@nestjs/common';
import { anyCaller } from '@headgate/access';
import { WhoamiView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import { CallerIdentity } from './caller-identity.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';

@Controller('api/whoami')
export class WhoamiController {
  constructor(private readonly identity: CallerIdentity) {}

  @Needs(anyCaller)
  @Get()
  @Describe('The identity of the caller.', answer(200, WhoamiView))
  whoami(@CurrentCaller() caller: Caller): WhoamiView {
    return this.identity.whoami(caller);
  }
}
