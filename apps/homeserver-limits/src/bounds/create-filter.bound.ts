import type { Holdings } from '../homeserver/holdings.port.js';
import type { Identity } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import type { Caps } from './caps.js';
import { requireOwnUser } from './require-own-user.js';

export class CreateFilterBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly caps: Caps,
    private readonly holdings: Holdings,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const caller = await this.identity.callerOf(request);
    requireOwnUser(caller, request);
    const rewrite = await this.holdings.hasFilter(caller, await request.json());
    const count = () => this.holdings.filters(caller, request);
    return this.caps.run(this.caps.filters, { holder: caller.userId, rewrite }, count, next);
  }
}
