import {
  type MatrixResponse,
  Holdings,
  Identity,
  type MatrixRequest,
  scopeOf,
  writableType,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next } from './bound.js';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';
import { requireOwnUser } from './require-own-user.js';

@Injectable()
export class AccountDataBound extends Bound {
  override readonly operations = ['setAccountData', 'setRoomAccountData'] as const;

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
    const type = writableType(request);
    const scope = scopeOf(request);
    await request.jsonOfFewValues();
    if (this.rules.isExempt(request, caller)) return next();
    const rewrite = await this.holdings.hasAccountData(caller, scope, type, request);
    const write = { holder: caller.userId, rewrite, id: JSON.stringify([scope, type]) };
    const count = () => this.holdings.accountData(caller, request);
    return this.caps.run(this.caps.accountData, write, count, next);
  }
}
