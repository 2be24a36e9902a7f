import type { Holdings } from '../homeserver/holdings.port.js';
import type { Identity } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import type { Caps } from './caps.js';
import { exactMembers } from './exact-members.js';
import { readPusher } from './pusher-body.js';

/** Pushers: replacing one is free, removing one is never refused. */
export class SetPusherBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly caps: Caps,
    private readonly holdings: Holdings,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const caller = await this.identity.callerOf(request);
    const body = await request.json();
    exactMembers(body, ['app_id', 'pushkey', 'kind']);
    const { appId, pushkey, deletes } = readPusher(body);
    if (deletes) return next();
    const rewrite = await this.holdings.hasPusher(caller, appId, pushkey, request);
    const write = { holder: caller.userId, rewrite, id: JSON.stringify([appId, pushkey]) };
    return this.caps.run(this.caps.pushers, write, () => this.holdings.pushers(caller, request), next);
  }
}
