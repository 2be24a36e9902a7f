import { Injectable } from '@nestjs/common';
import { Changes } from '../changes.js';
import { Database } from '../database.js';

/** How often each user has changed his account data and tags: where his sync stands with them. */
@Injectable()
export class DataPositions {
  constructor(
    private readonly db: Database,
    private readonly changes: Changes,
  ) {}

  of(userId: string): number {
    const sql = 'SELECT position FROM data_positions WHERE user_id = ?';
    return this.db.get<{ position: number }>(sql, userId)?.position ?? 0;
  }

  /** Notes a change, in the transaction that makes it. */
  next(userId: string): number {
    const sql = 'INSERT INTO data_positions VALUES (?, 1) ON CONFLICT DO UPDATE SET position = position + 1';
    this.db.run(sql, userId);
    this.changes.announce();
    return this.of(userId);
  }
}
