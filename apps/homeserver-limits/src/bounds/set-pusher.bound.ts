import {
  type MatrixResponse,
  exactMembers,
  Holdings,
  Identity,
  type MatrixRequest,
  readPusher,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next } from './bound.js';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';

/** Pushers: replacing one is free, and removing one is never refused. */
@Injectable()
export class SetPusherBound extends Bound {
  override readonly operations = ['setPusher'] as const;

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
    const body = await request.json();
    exactMembers(body, ['app_id', 'pushkey', 'kind']);
    const { appId, pushkey, deletes } = readPusher(body);
    if (deletes || this.rules.isExempt(request, caller)) return next();
    const rewrite = await this.holdings.hasPusher(caller, appId, pushkey, request);
    const write = { holder: caller.userId, rewrite, id: JSON.stringify([appId, pushkey]) };
    return this.caps.run(this.caps.pushers, write, () => this.holdings.pushers(caller, request), next);
  }
}
