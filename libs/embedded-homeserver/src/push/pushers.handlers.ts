import type { JsonObject } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok, readPusher } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Database } from '../database.js';
import { Handlers } from '../handlers.js';
import { storedJson } from '../request-json.js';
import { describePusher } from './pusher-shape.js';

/** The pushers of users, one per app ID and push key. No notification is sent. */
@Injectable()
export class PusherHandlers extends Handlers {
  constructor(
    private readonly db: Database,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    pushers: (request: MatrixRequest) => ok({ pushers: this.list(this.identity.require(request).userId) }),
    setPusher: (request: MatrixRequest) => this.set(request),
  };

  private list(userId: string): JsonObject[] {
    const sql = 'SELECT content FROM pushers WHERE user_id = ? ORDER BY app_id, pushkey';
    return this.db.all<{ content: string }>(sql, userId).map(({ content }) => JSON.parse(content));
  }

  private async set(request: MatrixRequest): Promise<MatrixResponse> {
    const { userId, tokenDigest } = this.identity.require(request);
    const body = await storedJson(request);
    const { appId, pushkey, deletes, appends } = readPusher(body);
    if (deletes) {
      const sql = 'DELETE FROM pushers WHERE user_id = ? AND app_id = ? AND pushkey = ?';
      this.db.run(sql, userId, appId, pushkey);
      return ok();
    }
    const content = JSON.stringify(describePusher(body));
    this.db.transaction(() => {
      if (!appends) {
        const sql = 'DELETE FROM pushers WHERE user_id <> ? AND app_id = ? AND pushkey = ?';
        this.db.run(sql, userId, appId, pushkey);
      }
      const sql = `INSERT INTO pushers VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET content = excluded.content, token_digest = excluded.token_digest`;
      this.db.run(sql, userId, appId, pushkey, content, tokenDigest);
    });
    return ok();
  }
}
