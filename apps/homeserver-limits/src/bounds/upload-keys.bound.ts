import { isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import {
  type MatrixResponse,
  type Caller,
  deviceHolder,
  exactMembers,
  Holdings,
  Identity,
  KEYS_LIMIT_BYTES,
  type MatrixRequest,
  MAX_KEYS_VALUES,
  oneTimeKeysIn,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next } from './bound.js';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';

/** One-time keys: the held and the offered keys must fit together, all or nothing. Fallback keys do not count. */
@Injectable()
export class UploadKeysBound extends Bound {
  override readonly operations = ['uploadKeys'] as const;

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
    const body = await request.json(KEYS_LIMIT_BYTES, { optional: true, maxValues: MAX_KEYS_VALUES });
    exactMembers(body, ['one_time_keys', 'device_keys']);
    const offered = Object.keys(oneTimeKeysIn(body)).length;
    requireOwnDevice(caller, request, body);
    if (offered === 0 || caller.deviceId === undefined) return next();
    if (this.rules.isExempt(request, caller)) return next();
    const write = { holder: deviceHolder(caller.userId, caller.deviceId), amount: offered };
    return this.caps.run(this.caps.oneTimeKeys, write, () => this.holdings.oneTimeKeys(caller, request), next);
  }
}

/**
 * The old path and the keys can name another device. Some servers would store the keys there, where they do not count.
 */
function requireOwnDevice({ userId, deviceId }: Caller, { params }: MatrixRequest, { device_keys: keys }: JsonObject) {
  if (params.deviceId && deviceId !== undefined && params.deviceId !== deviceId) {
    throw MatrixError.invalidParam('The path names another device.');
  }
  if (keys === undefined) return;
  if (!isJsonObject(keys)) throw MatrixError.badJson('device_keys must be an object.');
  if (keys.user_id !== userId || (deviceId !== undefined && keys.device_id !== deviceId)) {
    throw MatrixError.invalidParam('device_keys belong to another user or device.');
  }
}
