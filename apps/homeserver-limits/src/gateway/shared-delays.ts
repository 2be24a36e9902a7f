import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteDatabase } from '@headgate/sqlite';
import { type DelayedEvents, TRANSACTION_LIFETIME_MS } from './delayed-events.js';

const SCHEMA = `
  CREATE TABLE delays (
    delay_id TEXT PRIMARY KEY, holder TEXT NOT NULL, delay_ms REAL NOT NULL, due_ms REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX delays_by_holder ON delays (holder, due_ms);
  CREATE INDEX delays_by_due ON delays (due_ms);
  CREATE TABLE transactions (key TEXT PRIMARY KEY, time_ms REAL NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX transactions_by_time ON transactions (time_ms);
`;
const FILE = 'delays.db';
/** Those of each table that are kept. */
const MAX_ROWS = 100_000;
/** Old rows are deleted with every so many writes. */
const SWEEP_WRITES = 256;

/** Of the machine, not of the process: workers compare the times of each other. */
const machineMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** Deletes the file of the last run, whose times may be those before a restart of the machine. */
export function removeSharedDelays(dataDir: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, FILE + suffix), { force: true });
}

/** The delayed events that all workers of a gateway have scheduled, in a file that lasts as long as the gateway. */
export class SharedDelays implements DelayedEvents {
  private readonly db: SqliteDatabase;
  private writes = 0;

  constructor(
    dataDir: string,
    private readonly now: () => number = machineMs,
    private readonly maxRows = MAX_ROWS,
  ) {
    this.db = new SqliteDatabase({ file: join(dataDir, FILE), migrations: [SCHEMA], durability: 'normal' }).open();
  }

  add(holder: string, delayId: string, delayMs: number): void {
    const sql = 'INSERT OR REPLACE INTO delays VALUES (?, ?, ?, ?)';
    this.db.run(sql, delayId, holder, delayMs, this.now() + delayMs);
    this.sweep();
  }

  end(delayId: string): string | undefined {
    return this.db.get<{ holder: string }>('DELETE FROM delays WHERE delay_id = ? RETURNING holder', delayId)?.holder;
  }

  restart(delayId: string): void {
    this.db.run('UPDATE delays SET due_ms = ? + delay_ms WHERE delay_id = ?', this.now(), delayId);
  }

  count(holder: string): number {
    return this.db.count('SELECT count(*) AS n FROM delays WHERE holder = ? AND due_ms > ?', holder, this.now());
  }

  rememberTransaction(key: string): void {
    this.db.run('INSERT OR REPLACE INTO transactions VALUES (?, ?)', key, this.now());
    this.sweep();
  }

  hasTransaction(key: string): boolean {
    const sql = 'SELECT count(*) AS n FROM transactions WHERE key = ? AND time_ms > ?';
    return this.db.count(sql, key, this.now() - TRANSACTION_LIFETIME_MS) > 0;
  }

  close(): void {
    this.db.close();
  }

  /** Deletes the rows whose time is over, and the oldest ones beyond the number that is kept. */
  private sweep(): void {
    if (++this.writes % SWEEP_WRITES !== 0) return;
    const { db, maxRows } = this;
    db.run('DELETE FROM delays WHERE due_ms <= ?', this.now());
    db.run('DELETE FROM transactions WHERE time_ms <= ?', this.now() - TRANSACTION_LIFETIME_MS);
    for (const [table, key, time] of [
      ['delays', 'delay_id', 'due_ms'],
      ['transactions', 'key', 'time_ms'],
    ] as const) {
      const extra = db.count(`SELECT count(*) AS n FROM ${table}`) - maxRows;
      if (extra > 0)
        db.run(`DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} ORDER BY ${time} LIMIT ?)`, extra);
    }
  }
}
