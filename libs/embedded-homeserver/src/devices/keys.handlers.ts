import { isJsonObject, type JsonObject, MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { type MatrixResponse, KEYS_LIMIT_BYTES, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Database } from '../database.js';
import { Handlers } from '../handlers.js';
import { DeviceKeys } from './device-keys.js';
import { readKeysUpload } from './keys-upload.js';

@Injectable()
export class KeyHandlers extends Handlers {
  constructor(
    private readonly options: EmbeddedOptions,
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

  private async upload(request: MatrixRequest): Promise<MatrixResponse> {
    const { userId, deviceId } = this.identity.require(request);
    const { identity, oneTime, fallback } = await readKeysUpload(request);
    this.db.transaction(() => {
      if (identity) this.keys.setIdentity(userId, deviceId, identity);
      this.keys.addOneTime(userId, deviceId, oneTime);
      this.keys.setFallback(userId, deviceId, fallback);
    });
    return ok({ one_time_key_counts: this.keys.counts(userId, deviceId) });
  }

  private async query(request: MatrixRequest): Promise<MatrixResponse> {
    this.identity.require(request);
    const { device_keys: requested } = await request.json(KEYS_LIMIT_BYTES);
    const users = readUsers(requested, 'device_keys');
    const found = users.filter(this.isOwn).map(([userId, devices]) => {
      if (!Array.isArray(devices)) throw MatrixError.badJson('device_keys must map users to lists of their devices.');
      return [userId, pick(this.keys.identities(userId), devices)];
    });
    return ok({ device_keys: Object.fromEntries(found), failures: this.unreachable(users) });
  }

  private async claim(request: MatrixRequest): Promise<MatrixResponse> {
    this.identity.require(request);
    const { one_time_keys: requested } = await request.json(KEYS_LIMIT_BYTES);
    const users = readUsers(requested, 'one_time_keys');
    return ok({ one_time_keys: claimKeys(this.keys, requested), failures: this.unreachable(users) });
  }

  private readonly isOwn = ([userId]: [string, unknown]) => parseUserId(userId)?.server === this.options.serverName;

  /** The servers of other users are not queried for their keys. */
  private unreachable(users: [string, unknown][]): JsonObject {
    const foreign = users.filter((user) => !this.isOwn(user)).map(([userId]) => parseUserId(userId)?.server ?? '');
    return Object.fromEntries(foreign.map((server) => [server, {}]));
  }
}

/** Claims keys for `{user: {device: algorithm}}`, requested by a client or a peer. @throws MatrixError M_BAD_JSON */
export function claimKeys(keys: DeviceKeys, requested: unknown): Record<string, JsonObject> {
  const claims = readUsers(requested, 'one_time_keys').flatMap(([userId, devices]) => {
    if (!isJsonObject(devices)) throw MatrixError.badJson('one_time_keys must map users to objects of their devices.');
    return Object.entries(devices).map(([deviceId, algorithm]) => {
      if (typeof algorithm !== 'string') throw MatrixError.badJson('An algorithm must be a string.');
      return { userId, deviceId, algorithm };
    });
  });
  return keys.claimAll(claims);
}

function readUsers(requested: unknown, name: string): [string, unknown][] {
  if (!isJsonObject(requested)) throw MatrixError.badJson(`${name} must be an object.`);
  const users = Object.entries(requested);
  if (!users.every(([userId]) => parseUserId(userId)))
    throw MatrixError.badJson(`${name} must name users by their IDs.`);
  return users;
}

/** The named devices, or all of them when none is named. */
const pick = (devices: Record<string, JsonObject>, names: unknown[]): Record<string, JsonObject> =>
  names.length === 0 ? devices : Object.fromEntries(Object.entries(devices).filter(([id]) => names.includes(id)));
