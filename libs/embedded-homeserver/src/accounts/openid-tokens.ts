import { randomBytes } from 'node:crypto';
import { digest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Clock } from '@headgate/clock';
import { Database } from '../database.js';

export const OPENID_LIFETIME_S = 3600;

/** Tokens that prove a user's identity to third parties. */
@Injectable()
export class OpenIdTokens {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  mint(userId: string): string {
    const token = randomBytes(32).toString('base64url');
    const now = this.clock.now();
    this.db.transaction(() => {
      this.db.run('DELETE FROM openid_tokens WHERE expires_at <= ?', now);
      this.db.run('INSERT INTO openid_tokens VALUES (?, ?, ?)', digest(token), userId, now + OPENID_LIFETIME_S * 1000);
    });
    return token;
  }

  /** The user of a token that has not expired. */
  userOf(token: string): string | undefined {
    const sql = 'SELECT user_id FROM openid_tokens WHERE digest = ? AND expires_at > ?';
    return this.db.get<{ user_id: string }>(sql, digest(token), this.clock.now())?.user_id;
  }
}
