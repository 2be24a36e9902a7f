import { Injectable } from '@nestjs/common';
import { Changes } from '../changes.js';
import { Database } from '../database.js';

/** Counts each user's changes of account data and tags, as the position of their syncs. */
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

  /** Records a change, in its transaction. */
  next(userId: string): number {
    const sql = 'INSERT INTO data_positions VALUES (?, 1) ON CONFLICT DO UPDATE SET position = position + 1';
    this.db.run(sql, userId);
    this.changes.announce();
    return this.of(userId);
  }
}
