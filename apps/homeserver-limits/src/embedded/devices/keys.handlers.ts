import { isJsonObject, type JsonObject, MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { oneTimeKeysIn } from '../../bounds/upload-keys.bound.js';
import { type Answer, ok } from '../../wire/answer.js';
import type { MatrixRequest } from '../../wire/matrix-request.js';
import type { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import type { Database } from '../database.js';
import { Handlers } from '../handlers.js';
import type { DeviceKeys } from './device-keys.js';

const KEYS_LIMIT_BYTES = 4 * 1024 * 1024;

export class KeyHandlers extends Handlers {
  constructor(
    private readonly db: Database,
    private readonly keys: DeviceKeys,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    uploadKeys: (request: MatrixRequest) => this.upload(request),
    queryKeys: (request: MatrixRequest) => this.query(request),
    claimKeys: (request: MatrixRequest) => this.claim(request),
  };

  private async upload(request: MatrixRequest): Promise<Answer> {
    const { userId, deviceId } = this.identity.require(request);
    const body = await request.json(KEYS_LIMIT_BYTES, { optional: true });
    const fallback = oneTimeKeysIn({ one_time_keys: body.fallback_keys });
    this.db.transaction(() => {
      if (isJsonObject(body.device_keys)) this.keys.setIdentity(userId, deviceId, body.device_keys);
      this.keys.addOneTime(userId, deviceId, oneTimeKeysIn(body));
      this.keys.setFallback(userId, deviceId, fallback);
    });
    return ok({ one_time_key_counts: this.keys.counts(userId, deviceId) });
  }

  private async query(request: MatrixRequest): Promise<Answer> {
    this.identity.require(request);
    const { device_keys: asked } = await request.json(KEYS_LIMIT_BYTES);
    if (!isJsonObject(asked)) throw MatrixError.badJson('device_keys must be an object.');
    const found = Object.keys(asked).map((userId) => [userId, this.keys.identities(userId)]);
    return ok({ device_keys: Object.fromEntries(found), failures: {} });
  }

  private async claim(request: MatrixRequest): Promise<Answer> {
    this.identity.require(request);
    const { one_time_keys: asked } = await request.json(KEYS_LIMIT_BYTES);
    return ok({ one_time_keys: claimKeys(this.keys, asked), failures: {} });
  }
}

/** Answers a claim of `{user: {device: algorithm}}`, a member's or a peer's. @throws MatrixError M_BAD_JSON */
export function claimKeys(keys: DeviceKeys, asked: unknown): Record<string, JsonObject> {
  if (!isJsonObject(asked)) throw MatrixError.badJson('one_time_keys must be an object.');
  const found: Record<string, JsonObject> = {};
  for (const [userId, devices] of Object.entries(asked)) {
    if (!isJsonObject(devices) || !parseUserId(userId))
      throw MatrixError.badJson('one_time_keys names a device wrongly.');
    for (const [deviceId, algorithm] of Object.entries(devices)) {
      const key = keys.claim(userId, deviceId, String(algorithm));
      if (key) found[userId] = { ...found[userId], [deviceId]: key };
    }
  }
  return found;
}
