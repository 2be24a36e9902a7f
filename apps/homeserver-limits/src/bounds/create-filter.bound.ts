import { type MatrixResponse, Holdings, Identity, type MatrixRequest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next } from './bound.js';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';
import { requireOwnUser } from './require-own-user.js';

@Injectable()
export class CreateFilterBound extends Bound {
  override readonly operations = ['createFilter'] as const;

  constructor(
    private readonly identity: Identity,
    private readonly caps: Caps,
    private readonly rules: Rules,
    private readonly holdings: Holdings,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const caller = await this.identity.callerOf(request);
    requireOwnUser(caller, request);
    if (this.rules.isExempt(request, caller)) return next();
    const rewrite = await this.holdings.hasFilter(caller, await request.json());
    const count = () => this.holdings.filters(caller, request);
    return this.caps.run(this.caps.filters, { holder: caller.userId, rewrite }, count, next);
  }
}
