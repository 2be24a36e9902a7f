import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { MIGRATIONS } from './migrations.js';

/**
 * The embedded database: one file, SQLite. Each write is on the disk before it returns (write-ahead log, synchronous
 * FULL), so that a process that is killed at any point loses nothing it acknowledged.
 */
export class RegistryDatabase {
  private readonly statements = new Map<string, StatementSync>();

  private constructor(private readonly database: DatabaseSync) {}

  /**
   * Opens or makes the file, readable by its owner alone, and brings it to the newest layout.
   * @throws Error when the file is no database of ours, or was written by a newer release
   */
  static open(file: string): RegistryDatabase {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const database = new DatabaseSync(file);
    try {
      database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 2000',
      );
      chmodSync(file, 0o600);
      migrate(database, file);
    } catch (error) {
      database.close();
      throw new Error(
        `${file} can't be used as the registry: ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      );
    }
    return new RegistryDatabase(database);
  }

  /** A prepared statement, kept for the next time. */
  statement(sql: string): StatementSync {
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = this.database.prepare(sql)));
    return statement;
  }

  /** All of it or nothing. */
  transaction<T>(work: () => T): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    this.statements.clear();
    this.database.close();
  }
}

function migrate(database: DatabaseSync, file: string): void {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > MIGRATIONS.length) {
    throw new Error(`${file} was written by a newer release (layout ${version}); this one knows ${MIGRATIONS.length}`);
  }
  MIGRATIONS.slice(version).forEach((sql, index) => {
    database.exec(`BEGIN; ${sql}; PRAGMA user_version = ${version + index + 1}; COMMIT`);
  });
}
