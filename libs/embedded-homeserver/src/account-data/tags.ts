import type { JsonObject } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { DataPositions } from './data-positions.js';

/** The tags of users on rooms. Their number is not limited. */
@Injectable()
export class Tags {
  constructor(
    private readonly db: Database,
    private readonly positions: DataPositions,
  ) {}

  of(userId: string, roomId: string): Record<string, JsonObject> {
    const sql = 'SELECT tag, content FROM tags WHERE user_id = ? AND room_id = ? ORDER BY tag';
    const rows = this.db.all<{ tag: string; content: string }>(sql, userId, roomId);
    return Object.fromEntries(rows.map(({ tag, content }) => [tag, JSON.parse(content)]));
  }

  set(userId: string, roomId: string, tag: string, content: JsonObject): void {
    this.db.transaction(() => {
      const sql = 'INSERT INTO tags VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content';
      this.db.run(sql, userId, roomId, tag, JSON.stringify(content));
      this.positions.next(userId);
    });
  }

  delete(userId: string, roomId: string, tag: string): void {
    this.db.transaction(() => {
      const sql = 'DELETE FROM tags WHERE user_id = ? AND room_id = ? AND tag = ?';
      if (this.db.run(sql, userId, roomId, tag) > 0) this.positions.next(userId);
    });
  }
}
