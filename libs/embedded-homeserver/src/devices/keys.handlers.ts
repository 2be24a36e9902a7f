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
    const { device_keys: asked } = await request.json(KEYS_LIMIT_BYTES);
    const users = readUsers(asked, 'device_keys');
    const found = users.filter(this.isOwn).map(([userId, devices]) => {
      if (!Array.isArray(devices)) throw MatrixError.badJson('device_keys names users and lists of their devices.');
      return [userId, pick(this.keys.identities(userId), devices)];
    });
    return ok({ device_keys: Object.fromEntries(found), failures: this.unreachable(users) });
  }

  private async claim(request: MatrixRequest): Promise<MatrixResponse> {
    this.identity.require(request);
    const { one_time_keys: asked } = await request.json(KEYS_LIMIT_BYTES);
    const users = readUsers(asked, 'one_time_keys');
    return ok({ one_time_keys: claimKeys(this.keys, asked), failures: this.unreachable(users) });
  }

  private readonly isOwn = ([userId]: [string, unknown]) => parseUserId(userId)?.server === this.options.serverName;

  /** Nobody here asks other servers for the keys of their users. */
  private unreachable(users: [string, unknown][]): JsonObject {
    const foreign = users.filter((user) => !this.isOwn(user)).map(([userId]) => parseUserId(userId)?.server ?? '');
    return Object.fromEntries(foreign.map((server) => [server, {}]));
  }
}

/** Answers a claim of `{user: {device: algorithm}}`, a member's or a peer's. @throws MatrixError M_BAD_JSON */
export function claimKeys(keys: DeviceKeys, asked: unknown): Record<string, JsonObject> {
  const claims = readUsers(asked, 'one_time_keys').flatMap(([userId, devices]) => {
    if (!isJsonObject(devices)) throw MatrixError.badJson('one_time_keys names users and objects of their devices.');
    return Object.entries(devices).map(([deviceId, algorithm]) => {
      if (typeof algorithm !== 'string') throw MatrixError.badJson('An algorithm is a string.');
      return { userId, deviceId, algorithm };
    });
  });
  return keys.claimAll(claims);
}

function readUsers(asked: unknown, name: string): [string, unknown][] {
  if (!isJsonObject(asked)) throw MatrixError.badJson(`${name} must be an object.`);
  const users = Object.entries(asked);
  if (!users.every(([userId]) => parseUserId(userId))) throw MatrixError.badJson(`${name} names users by their ids.`);
  return users;
}

/** The named devices; all of them where none is named. */
const pick = (devices: Record<string, JsonObject>, names: unknown[]): Record<string, JsonObject> =>
  names.length === 0 ? devices : Object.fromEntries(Object.entries(devices).filter(([id]) => names.includes(id)));
