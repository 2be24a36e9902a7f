import type { JsonObject } from '@headgate/matrix-protocol';
import type { Database } from '../database.js';

/** Writing an empty object is how clients delete (MSC3391). */
export const deletesAccountData = (content: JsonObject): boolean => Object.keys(content).length === 0;

/** What a user keeps on the server: objects under a type, for all rooms or for one. */
export class AccountData {
  constructor(private readonly db: Database) {}

  get(userId: string, scope: string, type: string): JsonObject | undefined {
    const sql = 'SELECT content FROM account_data WHERE user_id = ? AND scope = ? AND type = ?';
    const row = this.db.get<{ content: string }>(sql, userId, scope, type);
    return row && JSON.parse(row.content);
  }

  set(userId: string, scope: string, type: string, content: JsonObject): void {
    if (deletesAccountData(content)) return this.delete(userId, scope, type);
    const sql = 'INSERT INTO account_data VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content';
    this.db.run(sql, userId, scope, type, JSON.stringify(content));
  }

  delete(userId: string, scope: string, type: string): void {
    this.db.run('DELETE FROM account_data WHERE user_id = ? AND scope = ? AND type = ?', userId, scope, type);
  }

  count(userId: string): number {
    return this.db.count('SELECT count(*) AS n FROM account_data WHERE user_id = ?', userId);
  }

  all(userId: string): { scope: string; type: string; content: JsonObject }[] {
    const sql = 'SELECT scope, type, content FROM account_data WHERE user_id = ? ORDER BY scope, type';
    const rows = this.db.all<{ scope: string; type: string; content: string }>(sql, userId);
    return rows.map((row) => ({ ...row, content: JSON.parse(row.content) }));
  }
}
