import { randomBytes, randomInt } from 'node:crypto';
import { digest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Clock } from '@headgate/clock';
import { Database } from '../database.js';

export interface Session {
  userId: string;
  deviceId: string;
  accessToken: string;
}

export interface TokenOwner {
  userId: string;
  deviceId: string;
  digest: string;
}

const DEVICE_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Accounts, their devices and their access tokens. Tokens are stored as digests. */
@Injectable()
export class Accounts {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  exists(userId: string): boolean {
    return this.db.get('SELECT 1 FROM accounts WHERE user_id = ?', userId) !== undefined;
  }

  passwordHash(userId: string): string | undefined {
    const sql = 'SELECT password_hash FROM accounts WHERE user_id = ?';
    return this.db.get<{ password_hash: string }>(sql, userId)?.password_hash;
  }

  /** @returns false when the name is taken */
  create(userId: string, passwordHash: string): boolean {
    const sql = 'INSERT INTO accounts VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
    return this.db.run(sql, userId, passwordHash, this.clock.now()) === 1;
  }

  /** Creates a token for the device. A known device loses its previous tokens. */
  logIn(userId: string, device: { id?: string; displayName?: string }): Session {
    const deviceId = device.id ?? newDeviceId();
    const accessToken = `hg_${randomBytes(32).toString('base64url')}`;
    this.db.transaction(() => {
      this.db.run(
        'INSERT INTO devices VALUES (?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING',
        userId,
        deviceId,
        device.displayName ?? null,
        this.clock.now(),
      );
      this.revokeTokens('user_id = ? AND device_id = ?', userId, deviceId);
      this.db.run('INSERT INTO tokens VALUES (?, ?, ?)', digest(accessToken), userId, deviceId);
    });
    return { userId, deviceId, accessToken };
  }

  owner(accessToken: string): TokenOwner | undefined {
    const sql = 'SELECT user_id AS userId, device_id AS deviceId, digest FROM tokens WHERE digest = ?';
    return this.db.get<TokenOwner>(sql, digest(accessToken));
  }

  devices(userId: string): { device_id: string; display_name?: string }[] {
    const sql = 'SELECT device_id, display_name FROM devices WHERE user_id = ? ORDER BY created_at, device_id';
    const rows = this.db.all<{ device_id: string; display_name: string | null }>(sql, userId);
    return rows.map(({ device_id, display_name }) => ({ device_id, ...(display_name && { display_name }) }));
  }

  /** Deletes a device with its tokens, its keys and the pushers that its tokens created. */
  removeDevice(userId: string, deviceId: string): void {
    this.db.transaction(() => {
      this.revokeTokens('user_id = ? AND device_id = ?', userId, deviceId);
      this.db.run('DELETE FROM devices WHERE user_id = ? AND device_id = ?', userId, deviceId);
    });
  }

  removeAllDevices(userId: string): void {
    this.db.transaction(() => {
      this.revokeTokens('user_id = ?', userId);
      this.db.run('DELETE FROM devices WHERE user_id = ?', userId);
    });
  }

  private revokeTokens(condition: string, ...values: string[]): void {
    this.db.run(`DELETE FROM pushers WHERE token_digest IN (SELECT digest FROM tokens WHERE ${condition})`, ...values);
    this.db.run(`DELETE FROM tokens WHERE ${condition}`, ...values);
  }
}

const newDeviceId = (): string =>
  Array.from({ length: 10 }, () => DEVICE_LETTERS[randomInt(DEVICE_LETTERS.length)]).join('');
