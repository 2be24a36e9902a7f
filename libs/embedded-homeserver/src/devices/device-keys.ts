import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';

interface StoredKey {
  uploaded: number;
  key_id: string;
  content: string;
}

export interface KeyClaim {
  userId: string;
  deviceId: string;
  algorithm: string;
}

/** The public keys of devices: identity keys, one-time keys that are claimed once each, and fallback keys. */
@Injectable()
export class DeviceKeys {
  constructor(private readonly db: Database) {}

  setIdentity(userId: string, deviceId: string, keys: JsonObject): void {
    const sql = 'UPDATE devices SET device_keys = ? WHERE user_id = ? AND device_id = ?';
    this.db.run(sql, JSON.stringify(keys), userId, deviceId);
  }

  identities(userId: string): Record<string, JsonObject> {
    const sql = `SELECT device_id, display_name, device_keys FROM devices
      WHERE user_id = ? AND device_keys IS NOT NULL ORDER BY device_id`;
    const rows = this.db.all<{ device_id: string; display_name: string | null; device_keys: string }>(sql, userId);
    return Object.fromEntries(
      rows.map(({ device_id, display_name: name, device_keys }) => [
        device_id,
        { ...JSON.parse(device_keys), ...(name !== null && { unsigned: { device_display_name: name } }) },
      ]),
    );
  }

  /**
   * Adds all keys or none. A repeated key is not added again.
   * @throws MatrixError when an ID exists with another key
   */
  addOneTime(userId: string, deviceId: string, keys: JsonObject): void {
    for (const [name, key] of Object.entries(keys)) {
      const [algorithm, keyId] = splitName(name);
      const known = this.oneTime(userId, deviceId, algorithm, keyId);
      if (known && !isDeepStrictEqual(JSON.parse(known.content), key)) {
        throw new MatrixError(400, 'M_UNKNOWN', `${name} exists already with another key.`);
      }
      if (known) continue;
      const sql = 'INSERT INTO one_time_keys (user_id, device_id, algorithm, key_id, content) VALUES (?, ?, ?, ?, ?)';
      this.db.run(sql, userId, deviceId, algorithm, keyId, JSON.stringify(key));
    }
  }

  setFallback(userId: string, deviceId: string, keys: JsonObject): void {
    for (const [name, key] of Object.entries(keys)) {
      const sql = `INSERT INTO fallback_keys VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET key_id = excluded.key_id, content = excluded.content`;
      this.db.run(sql, userId, deviceId, ...splitName(name), JSON.stringify(key));
    }
  }

  counts(userId: string, deviceId: string): Record<string, number> {
    const sql =
      'SELECT algorithm, count(*) AS n FROM one_time_keys WHERE user_id = ? AND device_id = ? GROUP BY algorithm';
    const rows = this.db.all<{ algorithm: string; n: number }>(sql, userId, deviceId);
    return { signed_curve25519: 0, ...Object.fromEntries(rows.map(({ algorithm, n }) => [algorithm, n])) };
  }

  held(userId: string, deviceId: string): number {
    const sql = 'SELECT count(*) AS n FROM one_time_keys WHERE user_id = ? AND device_id = ?';
    return this.db.count(sql, userId, deviceId);
  }

  /** Claims one key per request where there is one, as `{user: {device: {name: key}}}`. */
  claimAll(claims: readonly KeyClaim[]): Record<string, JsonObject> {
    const found: Record<string, JsonObject> = {};
    this.db.transaction(() => {
      for (const claim of claims) {
        const key = this.claim(claim);
        if (key) found[claim.userId] = { ...found[claim.userId], [claim.deviceId]: key };
      }
    });
    return found;
  }

  /** The oldest one-time key, which is removed, or else the fallback key, under its name. */
  private claim({ userId, deviceId, algorithm }: KeyClaim): JsonObject | undefined {
    const oldest = `SELECT uploaded, key_id, content FROM one_time_keys
      WHERE user_id = ? AND device_id = ? AND algorithm = ? ORDER BY uploaded LIMIT 1`;
    const key = this.db.get<StoredKey>(oldest, userId, deviceId, algorithm);
    if (key) this.db.run('DELETE FROM one_time_keys WHERE uploaded = ?', key.uploaded);
    const found = key ?? this.fallback(userId, deviceId, algorithm);
    return found && { [`${algorithm}:${found.key_id}`]: JSON.parse(found.content) };
  }

  private oneTime(...key: [string, string, string, string]): StoredKey | undefined {
    const sql = `SELECT uploaded, key_id, content FROM one_time_keys
      WHERE user_id = ? AND device_id = ? AND algorithm = ? AND key_id = ?`;
    return this.db.get<StoredKey>(sql, ...key);
  }

  private fallback(userId: string, deviceId: string, algorithm: string): StoredKey | undefined {
    const sql = 'SELECT key_id, content FROM fallback_keys WHERE user_id = ? AND device_id = ? AND algorithm = ?';
    return this.db.get<StoredKey>(sql, userId, deviceId, algorithm);
  }
}

function splitName(name: string): [algorithm: string, keyId: string] {
  const colon = name.indexOf(':');
  return [name.slice(0, colon), name.slice(colon + 1)];
}
