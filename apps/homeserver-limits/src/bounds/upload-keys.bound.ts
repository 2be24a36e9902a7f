import { isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import type { Holdings } from '../homeserver/holdings.port.js';
import type { Caller, Identity } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import type { Caps } from './caps.js';
import { exactMembers } from './exact-members.js';

export const KEYS_LIMIT_BYTES = 4 * 1024 * 1024;

/** One-time keys: those held and those offered together must fit, all or nothing. Fallback keys are not counted. */
export class UploadKeysBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly caps: Caps,
    private readonly holdings: Holdings,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const caller = await this.identity.callerOf(request);
    const body = await request.json(KEYS_LIMIT_BYTES, { optional: true });
    exactMembers(body, ['one_time_keys', 'device_keys']);
    const offered = Object.keys(oneTimeKeysIn(body)).length;
    requireOwnDevice(caller, request, body);
    if (offered === 0 || caller.deviceId === undefined) return next();
    const write = { holder: deviceHolder(caller.userId, caller.deviceId), amount: offered };
    return this.caps.run(this.caps.oneTimeKeys, write, () => this.holdings.oneTimeKeys(caller, request), next);
  }
}

export const deviceHolder = (userId: string, deviceId: string): string => `${userId} ${deviceId}`;

/** Without them there are none. @throws MatrixError M_BAD_JSON for keys that are no object, or an id without an algorithm */
export function oneTimeKeysIn({ one_time_keys }: JsonObject): JsonObject {
  const keys = one_time_keys ?? {};
  if (!isJsonObject(keys)) throw MatrixError.badJson('one_time_keys must be an object.');
  const nameless = Object.keys(keys).find((id) => !/^[^:]+:./.test(id));
  if (nameless !== undefined) throw MatrixError.badJson('A one-time key is called algorithm:id.');
  return keys;
}

/** Both the old path and the keys can name a device, for which some servers then keep the keys, counted for nobody. */
function requireOwnDevice({ userId, deviceId }: Caller, { params }: MatrixRequest, { device_keys: keys }: JsonObject) {
  if (params.deviceId && deviceId !== undefined && params.deviceId !== deviceId) {
    throw MatrixError.invalidParam('The path names another device.');
  }
  if (keys === undefined) return;
  if (!isJsonObject(keys)) throw MatrixError.badJson('device_keys must be an object.');
  if (keys.user_id !== userId || (deviceId !== undefined && keys.device_id !== deviceId)) {
    throw MatrixError.invalidParam('device_keys are of another user or device.');
  }
}
