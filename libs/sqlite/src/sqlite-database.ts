import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

export type Row = Record<string, SQLInputValue>;

export interface SqliteOptions {
  /** Path of the file, or `:memory:`. */
  readonly file: string;
  /**
   * The steps that build the layout. A released step never changes; the file's `user_version` counts the steps it has.
   */
  readonly migrations: readonly string[];
  /**
   * `full` (the default): a write that returned survives a power failure. `normal`: it survives the end of the process.
   */
  readonly durability?: 'full' | 'normal';
}

/** How long a statement waits for another process that holds the file, in milliseconds. */
const BUSY_TIMEOUT_MS = 2000;
const IN_MEMORY = ':memory:';

/** One SQLite file. Created closed, so that it can be injected before it is opened. */
export class SqliteDatabase {
  private readonly statements = new Map<string, StatementSync>();
  private connection: DatabaseSync | undefined;

  constructor(private readonly options: SqliteOptions) {}

  get isOpen(): boolean {
    return this.connection !== undefined;
  }

  /**
   * Opens or creates the file, readable by its owner only, and brings it to the newest layout.
   * @throws Error when the file is not a database, or a newer release wrote it; the file is left as it is
   */
  open(): this {
    if (this.connection) return this;
    const { file, durability = 'full' } = this.options;
    if (file !== IN_MEMORY) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const connection = new DatabaseSync(file);
    try {
      connection.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durability}; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`,
      );
      if (file !== IN_MEMORY) chmodSync(file, 0o600);
      this.migrate(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
    this.connection = connection;
    return this;
  }

  close(): void {
    this.statements.clear();
    this.connection?.close();
    this.connection = undefined;
  }

  /** @returns the number of rows that changed */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.statement(sql).run(...values).changes);
  }

  /** @returns the row ID of the new row */
  insert(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.statement(sql).run(...values).lastInsertRowid);
  }

  get<T = Row>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.statement(sql).get(...values) as T | undefined;
  }

  all<T = Row>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.statement(sql).all(...values) as T[];
  }

  /** The result of a query that selects one number as `n`. */
  count(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.get<{ n: number }>(sql, ...values)?.n ?? 0);
  }

  /** Runs all of the work or none of it. A transaction inside another one joins it. */
  transaction<T>(work: () => T): T {
    const connection = this.expectOpen();
    if (connection.isTransaction) return work();
    connection.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      connection.exec('COMMIT');
      return result;
    } catch (error) {
      // SQLite has taken back the transaction already after some errors, such as a full disk.
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  }

  /** The error of a call while the database is closed. */
  protected closedError(): Error {
    return new Error(`${this.options.file} is not open.`);
  }

  private expectOpen(): DatabaseSync {
    if (!this.connection) throw this.closedError();
    return this.connection;
  }

  /** Prepared statements are kept: preparing costs more than running most of them. */
  private statement(sql: string): StatementSync {
    const connection = this.expectOpen();
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = connection.prepare(sql)));
    return statement;
  }

  private migrate(connection: DatabaseSync): void {
    const { file, migrations } = this.options;
    const { user_version: version } = connection.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version > migrations.length) {
      throw new Error(
        `${file} was written by a newer release (layout ${version}); this one knows ${migrations.length}`,
      );
    }
    migrations.slice(version).forEach((step, index) => {
      connection.exec(`BEGIN; ${step}; PRAGMA user_version = ${version + index + 1}; COMMIT`);
    });
  }
}
