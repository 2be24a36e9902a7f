import { join } from 'node:path';
import { SqliteDatabase } from '@headgate/sqlite';
import type { OnApplicationShutdown } from '@nestjs/common';
import { schema } from './schema.js';

/** The homeserver's database: one SQLite file. A write that has returned survives a crash of the machine. */
export class Database extends SqliteDatabase implements OnApplicationShutdown {
  static open(dataDir: string): Database {
    return new Database({ file: join(dataDir, 'homeserver.db'), migrations: schema }).open();
  }

  static inMemory(): Database {
    return new Database({ file: ':memory:', migrations: schema }).open();
  }

  onApplicationShutdown(): void {
    this.close();
  }
}
