import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { digest } from '../homeserver/digest.js';
import type { Caller } from '../homeserver/identity.port.js';
import { LeastRecentlyUsed } from '../homeserver/least-recently-used.js';
import type { MatrixRequest } from '../wire/matrix-request.js';

const SCHEMA = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS filters (
    user_id TEXT NOT NULL, filter_id TEXT NOT NULL, print TEXT, PRIMARY KEY (user_id, filter_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS filters_by_print ON filters (user_id, print);
  CREATE TABLE IF NOT EXISTS account_data (
    user_id TEXT NOT NULL, scope TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (user_id, scope, type)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS seeded (user_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;

/** For less time than any homeserver remembers its answers: what it has forgotten it would schedule again. */
const TRANSACTION_MS = 25 * 60 * 1000;

/** How long one attempt to learn something may take, before the next one. */
const TRY_MS = 10_000;

interface Scheduled {
  holder: string;
  delayMs: number;
  due: number;
}

/**
 * What came by and cannot be asked for: filter ids, account-data types, delayed events. The first two outlive a restart,
 * because the upstream keeps them too.
 */
export class SeenHoldings {
  private readonly db: DatabaseSync;
  private givesOneIdToAFilter?: boolean;
  private nextTry = -Infinity;
  private readonly scheduled = new LeastRecentlyUsed<string, Scheduled>(100_000);
  private readonly transactions = new LeastRecentlyUsed<string, number>(100_000);

  constructor(
    dataDir: string | undefined,
    private readonly now: () => number = Date.now,
  ) {
    if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    this.db = new DatabaseSync(dataDir === undefined ? ':memory:' : join(dataDir, 'gateway.db'));
    this.db.exec(SCHEMA);
  }

  close(): void {
    if (this.db.isOpen) this.db.close();
  }

  filters(userId: string): number {
    return this.count('SELECT count(*) AS n FROM filters WHERE user_id = ?', userId);
  }

  /** Held, and sending it again makes no second one. Not every upstream keeps to that: until one is seen to, one may try. */
  hasFilter(userId: string, print: string): boolean {
    if (this.filterId(userId, print) === undefined) return false;
    if (this.givesOneIdToAFilter !== undefined) return this.givesOneIdToAFilter;
    const mayTry = this.now() >= this.nextTry;
    if (mayTry) this.nextTry = this.now() + TRY_MS;
    return mayTry;
  }

  addFilter(userId: string, filterId: string, print: string | undefined): void {
    const known = print === undefined ? undefined : this.filterId(userId, print);
    if (known !== undefined) this.givesOneIdToAFilter = known === filterId && this.givesOneIdToAFilter !== false;
    const sql = `INSERT INTO filters VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET print = coalesce(excluded.print, print)`;
    this.db.prepare(sql).run(userId, filterId, print ?? null);
  }

  accountData(userId: string): number {
    return this.count('SELECT count(*) AS n FROM account_data WHERE user_id = ?', userId);
  }

  hasAccountData(...entry: [userId: string, scope: string, type: string]): boolean {
    return (
      this.count('SELECT count(*) AS n FROM account_data WHERE user_id = ? AND scope = ? AND type = ?', ...entry) > 0
    );
  }

  addAccountData(...entry: [userId: string, scope: string, type: string]): void {
    this.db.prepare('INSERT INTO account_data VALUES (?, ?, ?) ON CONFLICT DO NOTHING').run(...entry);
  }

  removeAccountData(...entry: [userId: string, scope: string, type: string]): void {
    this.db.prepare('DELETE FROM account_data WHERE user_id = ? AND scope = ? AND type = ?').run(...entry);
  }

  accountDataIsSeeded(userId: string): boolean {
    return this.count('SELECT count(*) AS n FROM seeded WHERE user_id = ?', userId) > 0;
  }

  /** All that a user had before; in one transaction, because it may be thousands. */
  seedAccountData(userId: string, entries: readonly (readonly [scope: string, type: string])[]): void {
    this.db.exec('BEGIN');
    try {
      for (const [scope, type] of entries) this.addAccountData(userId, scope, type);
      this.db.prepare('INSERT INTO seeded VALUES (?) ON CONFLICT DO NOTHING').run(userId);
      this.db.exec('COMMIT');
    } catch (error) {
      this.db.exec('ROLLBACK');
      throw error;
    }
  }

  addDelayedEvent(holder: string, delayId: string, delayMs: number): void {
    this.scheduled.set(delayId, { holder, delayMs, due: this.now() + delayMs });
  }

  /** @returns the holder who has one fewer now, if we knew of the event */
  endDelayedEvent(delayId: string): string | undefined {
    const { holder } = this.scheduled.get(delayId) ?? {};
    this.scheduled.delete(delayId);
    return holder;
  }

  restartDelayedEvent(delayId: string): void {
    const event = this.scheduled.get(delayId);
    if (event) this.scheduled.set(delayId, { ...event, due: this.now() + event.delayMs });
  }

  delayedEvents(holder: string): number {
    this.scheduled.deleteWhere(({ due }) => due <= this.now());
    return this.scheduled.countWhere((event) => event.holder === holder);
  }

  /** A repetition does not make it younger: the upstream remembers the first answer, too. */
  rememberTransaction(caller: Caller, request: MatrixRequest): void {
    if (!request.params.txnId || this.wasScheduled(caller, request)) return;
    this.transactions.set(transactionMark(caller, request), this.now());
  }

  wasScheduled(caller: Caller, request: MatrixRequest): boolean {
    const at = request.params.txnId ? this.transactions.get(transactionMark(caller, request)) : undefined;
    return at !== undefined && this.now() - at < TRANSACTION_MS;
  }

  private filterId(userId: string, print: string): string | undefined {
    const row = this.db
      .prepare('SELECT filter_id AS id FROM filters WHERE user_id = ? AND print = ?')
      .get(userId, print);
    return row === undefined ? undefined : String(row.id);
  }

  private count(sql: string, ...values: string[]): number {
    return Number((this.db.prepare(sql).get(...values) as { n: number }).n);
  }
}

/** The same device and the same path, letter by letter: servers know a repetition by no less, and would do it anew. */
const transactionMark = ({ userId, deviceId = '' }: Caller, { target }: MatrixRequest): string =>
  digest(JSON.stringify([userId, deviceId, target.split('?', 1)[0]]));
