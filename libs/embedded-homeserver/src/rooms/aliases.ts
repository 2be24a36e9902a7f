import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';

/** The aliases of rooms. Their number is not limited. */
@Injectable()
export class Aliases {
  constructor(private readonly db: Database) {}

  room(alias: string): string | undefined {
    return this.db.get<{ room_id: string }>('SELECT room_id FROM aliases WHERE alias = ?', alias)?.room_id;
  }

  creator(alias: string): string | undefined {
    return this.db.get<{ creator: string }>('SELECT creator FROM aliases WHERE alias = ?', alias)?.creator;
  }

  /** @returns false when the alias is taken */
  add(alias: string, roomId: string, creator: string): boolean {
    return this.db.run('INSERT INTO aliases VALUES (?, ?, ?) ON CONFLICT DO NOTHING', alias, roomId, creator) === 1;
  }

  remove(alias: string): void {
    this.db.run('DELETE FROM aliases WHERE alias = ?', alias);
  }

  of(roomId: string): string[] {
    const rows = this.db.all<{ alias: string }>('SELECT alias FROM aliases WHERE room_id = ? ORDER BY alias', roomId);
    return rows.map(({ alias }) => alias);
  }
}
