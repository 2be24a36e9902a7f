import { join } from 'node:path';
import type { OnApplicationShutdown } from '@nestjs/common';
import { type Caller, digest, type MatrixRequest } from '@headgate/homeserver-contracts';
import { SqliteDatabase } from '@headgate/sqlite';
import { type DelayedEvents, DelaysInMemory } from './delayed-events.js';

/** Files of earlier releases have these tables, but no version. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS filters (
    user_id TEXT NOT NULL, filter_id TEXT NOT NULL, print TEXT, PRIMARY KEY (user_id, filter_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS filters_by_print ON filters (user_id, print);
  CREATE TABLE IF NOT EXISTS account_data (
    user_id TEXT NOT NULL, scope TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (user_id, scope, type)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS seeded (user_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;

const ONE_TIME_KEYS = `
  CREATE TABLE IF NOT EXISTS one_time_keys (holder TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Dendrite counts no more one-time keys of a device than these, over all algorithms. */
const MOST_COUNTED_KEYS = 100;

/** The least time between two probes of how the upstream treats repeated filters. */
const PROBE_INTERVAL_MS = 10_000;

/**
 * Observed holdings that the upstream does not list: filter IDs, account-data types, delayed events. The first two
 * survive a restart, as they do at the upstream.
 */
export class HoldingsCache implements OnApplicationShutdown {
  private readonly db: SqliteDatabase;
  /** Whether the upstream returns the existing ID for a repeated filter. Undefined until observed. */
  private reusesFilterIds?: boolean;
  private nextProbeAt = -Infinity;
  private readonly delays: DelayedEvents;

  constructor(
    dataDir: string | undefined,
    private readonly now: () => number = () => performance.now(),
    /** In memory when left out, which is of one process. */
    delays: DelayedEvents = new DelaysInMemory(now),
  ) {
    this.delays = delays;
    const file = dataDir === undefined ? ':memory:' : join(dataDir, 'gateway.db');
    this.db = new SqliteDatabase({ file, migrations: [SCHEMA, ONE_TIME_KEYS], durability: 'normal' }).open();
  }

  onApplicationShutdown(): void {
    this.close();
  }

  close(): void {
    this.delays.close();
    this.db.close();
  }

  filters(userId: string): number {
    return this.db.count('SELECT count(*) AS n FROM filters WHERE user_id = ?', userId);
  }

  /**
   * Whether the filter is held, so that sending it again creates no second one. Not every upstream reuses IDs: until
   * this one has been observed to, one repeated filter at a time passes as a probe.
   */
  hasFilter(userId: string, fingerprint: string): boolean {
    if (this.filterId(userId, fingerprint) === undefined) return false;
    if (this.reusesFilterIds !== undefined) return this.reusesFilterIds;
    const mayProbe = this.now() >= this.nextProbeAt;
    if (mayProbe) this.nextProbeAt = this.now() + PROBE_INTERVAL_MS;
    return mayProbe;
  }

  addFilter(userId: string, filterId: string, fingerprint: string | undefined): void {
    const known = fingerprint === undefined ? undefined : this.filterId(userId, fingerprint);
    if (known !== undefined) this.reusesFilterIds = known === filterId && this.reusesFilterIds !== false;
    const sql = `INSERT INTO filters VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET print = coalesce(excluded.print, print)`;
    this.db.run(sql, userId, filterId, fingerprint ?? null);
  }

  accountData(userId: string): number {
    return this.db.count('SELECT count(*) AS n FROM account_data WHERE user_id = ?', userId);
  }

  hasAccountData(...entry: [userId: string, scope: string, type: string]): boolean {
    return (
      this.db.count('SELECT count(*) AS n FROM account_data WHERE user_id = ? AND scope = ? AND type = ?', ...entry) > 0
    );
  }

  addAccountData(...entry: [userId: string, scope: string, type: string]): void {
    this.db.run('INSERT INTO account_data VALUES (?, ?, ?) ON CONFLICT DO NOTHING', ...entry);
  }

  removeAccountData(...entry: [userId: string, scope: string, type: string]): void {
    this.db.run('DELETE FROM account_data WHERE user_id = ? AND scope = ? AND type = ?', ...entry);
  }

  accountDataIsSeeded(userId: string): boolean {
    return this.db.count('SELECT count(*) AS n FROM seeded WHERE user_id = ?', userId) > 0;
  }

  /** Adds everything that a user held before; in one transaction, because it may be thousands of entries. */
  seedAccountData(userId: string, entries: readonly (readonly [scope: string, type: string])[]): void {
    this.db.transaction(() => {
      for (const [scope, type] of entries) this.addAccountData(userId, scope, type);
      this.db.run('INSERT INTO seeded VALUES (?) ON CONFLICT DO NOTHING', userId);
    });
  }

  /** The one-time keys that a device has uploaded through this gateway since the upstream last reported all of them. */
  observedKeys(holder: string): number {
    const sql = 'SELECT amount FROM one_time_keys WHERE holder = ?';
    return this.db.get<{ amount: number }>(sql, holder)?.amount ?? 0;
  }

  /**
   * The one-time keys of a device, of which the upstream reports this many. A report that may have left out the rest
   * counts as the observed keys.
   * @param observed the keys that were observed before the upstream was asked
   */
  oneTimeKeys(holder: string, reported: number, observed: number): number {
    if (reported === MOST_COUNTED_KEYS) return Math.max(reported, this.observedKeys(holder));
    // The report may be older than uploads that ended in the meantime.
    if (observed > 0) this.db.run('DELETE FROM one_time_keys WHERE holder = ? AND amount = ?', holder, observed);
    return reported;
  }

  /**
   * After an upload of `added` keys by a device that held `held` before, as far as that is known. Keys that others have
   * claimed in the meantime keep counting until the upstream reports all that are left.
   */
  addOneTimeKeys(holder: string, added: number, { reported, held }: { reported: number; held?: number }): void {
    if (reported !== MOST_COUNTED_KEYS) return;
    const first = (held ?? MOST_COUNTED_KEYS) + added;
    const sql = 'INSERT INTO one_time_keys VALUES (?, ?) ON CONFLICT DO UPDATE SET amount = amount + ?';
    this.db.run(sql, holder, first, added);
  }

  addDelayedEvent(holder: string, delayId: string, delayMs: number): void {
    this.delays.add(holder, delayId, delayMs);
  }

  /** @returns the holder of the event, if it was known */
  endDelayedEvent(delayId: string): string | undefined {
    return this.delays.end(delayId);
  }

  restartDelayedEvent(delayId: string): void {
    this.delays.restart(delayId);
  }

  delayedEvents(holder: string): number {
    return this.delays.count(holder);
  }

  /** A repetition does not extend the lifetime, as at the upstream. */
  rememberTransaction(caller: Caller, request: MatrixRequest): void {
    if (!request.params.txnId || this.wasScheduled(caller, request)) return;
    this.delays.rememberTransaction(transactionKey(caller, request));
  }

  wasScheduled(caller: Caller, request: MatrixRequest): boolean {
    return Boolean(request.params.txnId) && this.delays.hasTransaction(transactionKey(caller, request));
  }

  private filterId(userId: string, fingerprint: string): string | undefined {
    const sql = 'SELECT filter_id AS id FROM filters WHERE user_id = ? AND print = ?';
    return this.db.get<{ id: string }>(sql, userId, fingerprint)?.id;
  }
}

/** The same device and the same path, byte for byte: some servers take anything else for a new transaction. */
const transactionKey = ({ userId, deviceId = '' }: Caller, { target }: MatrixRequest): string =>
  digest(JSON.stringify([userId, deviceId, target.split('?', 1)[0]]));
