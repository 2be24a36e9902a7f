import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { OnApplicationShutdown } from '@nestjs/common';
import { schema } from './schema.js';

export type Row = Record<string, SQLInputValue>;

/** The database: one SQLite file. A write that has returned survives a crash of the machine. */
export class Database implements OnApplicationShutdown {
  private readonly db: DatabaseSync;
  private readonly statements = new Map<string, StatementSync>();

  private constructor(path: string) {
    this.db = new DatabaseSync(path);
    this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    this.migrate();
  }

  static open(dataDir: string): Database {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return new Database(join(dataDir, 'homeserver.db'));
  }

  static inMemory(): Database {
    return new Database(':memory:');
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.prepare(sql).run(...values).changes);
  }

  get<T = Row>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.prepare(sql).get(...values) as T | undefined;
  }

  all<T = Row>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.prepare(sql).all(...values) as T[];
  }

  count(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.get<{ n: number }>(sql, ...values)?.n ?? 0);
  }

  /** Commits everything or nothing. A nested transaction joins the outer one. */
  transaction<T>(work: () => T): T {
    if (this.db.isTransaction) return work();
    this.db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.db.exec('COMMIT');
      return result;
    } catch (error) {
      this.db.exec('ROLLBACK');
      throw error;
    }
  }

  onApplicationShutdown(): void {
    this.close();
  }

  close(): void {
    this.statements.clear();
    if (this.db.isOpen) this.db.close();
  }

  private prepare(sql: string): StatementSync {
    const known = this.statements.get(sql);
    if (known) return known;
    const statement = this.db.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }

  private migrate(): void {
    const from = Number(this.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0);
    for (const [index, step] of schema.entries()) {
      if (index < from) continue;
      this.transaction(() => this.db.exec(`${step}; PRAGMA user_version = ${index + 1}`));
    }
  }
}
