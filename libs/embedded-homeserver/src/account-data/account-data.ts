import type { JsonObject } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { DataPositions } from './data-positions.js';

/** Writing an empty object is how clients delete (MSC3391). */
export const deletesAccountData = (content: JsonObject): boolean => Object.keys(content).length === 0;

/** A deletion is reported to the user's other clients for this many changes. */
const MAX_REPORTED_DELETIONS = 1000;

export interface DataEntry {
  scope: string;
  type: string;
  content: JsonObject;
}

/** Account data of users: one object per type, global or per room. */
@Injectable()
export class AccountData {
  constructor(
    private readonly db: Database,
    private readonly positions: DataPositions,
  ) {}

  get(userId: string, scope: string, type: string): JsonObject | undefined {
    const sql = 'SELECT content FROM account_data WHERE user_id = ? AND scope = ? AND type = ?';
    const row = this.db.get<{ content: string }>(sql, userId, scope, type);
    return row && JSON.parse(row.content);
  }

  set(userId: string, scope: string, type: string, content: JsonObject): void {
    if (deletesAccountData(content)) return this.delete(userId, scope, type);
    this.db.transaction(() => {
      const sql = 'INSERT INTO account_data VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content';
      this.db.run(sql, userId, scope, type, JSON.stringify(content));
      const undelete = 'DELETE FROM deleted_account_data WHERE user_id = ? AND scope = ? AND type = ?';
      this.db.run(undelete, userId, scope, type);
      this.positions.next(userId);
    });
  }

  delete(userId: string, scope: string, type: string): void {
    this.db.transaction(() => {
      const sql = 'DELETE FROM account_data WHERE user_id = ? AND scope = ? AND type = ?';
      if (this.db.run(sql, userId, scope, type) === 0) return;
      const position = this.positions.next(userId);
      this.db.run('INSERT INTO deleted_account_data VALUES (?, ?, ?, ?)', userId, scope, type, position);
      const forget = 'DELETE FROM deleted_account_data WHERE user_id = ? AND position <= ?';
      this.db.run(forget, userId, position - MAX_REPORTED_DELETIONS);
    });
  }

  count(userId: string): number {
    return this.db.count('SELECT count(*) AS n FROM account_data WHERE user_id = ?', userId);
  }

  all(userId: string): DataEntry[] {
    const sql = 'SELECT scope, type, content FROM account_data WHERE user_id = ? ORDER BY scope, type';
    const rows = this.db.all<{ scope: string; type: string; content: string }>(sql, userId);
    return rows.map((row) => ({ ...row, content: JSON.parse(row.content) }));
  }

  /** The entries deleted after a position, as the empty objects by which clients recognize a deletion. */
  deletedSince(userId: string, position: number): DataEntry[] {
    const sql = 'SELECT scope, type FROM deleted_account_data WHERE user_id = ? AND position > ? ORDER BY scope, type';
    const rows = this.db.all<{ scope: string; type: string }>(sql, userId, position);
    return rows.map((row) => ({ ...row, content: {} }));
  }
}
