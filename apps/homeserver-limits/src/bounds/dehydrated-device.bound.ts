import type { Identity } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import type { Caps } from './caps.js';
import { exactMembers } from './exact-members.js';
import { KEYS_LIMIT_BYTES, oneTimeKeysIn } from './upload-keys.bound.js';

/**
 * A device that only waits for messages (MSC3814) brings its one-time keys along. It takes the place of the one before, so
 * what it brings is all that it holds.
 */
export class DehydratedDeviceBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly caps: Caps,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    await this.identity.callerOf(request);
    const body = await request.json(KEYS_LIMIT_BYTES);
    exactMembers(body, ['one_time_keys']);
    this.caps.requireRoom(this.caps.oneTimeKeys, Object.keys(oneTimeKeysIn(body)).length);
    return next();
  }
}
