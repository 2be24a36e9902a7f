import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LimitOverrides } from '@headgate/limit-rules';
import { MatrixError } from '@headgate/matrix-protocol';
import { SqliteDatabase } from '@headgate/sqlite';
import type { OnApplicationShutdown } from '@nestjs/common';
import { ALL_RULES, type OverridableRule, type Override } from './override.js';

const SCHEMA = `
  CREATE TABLE overrides (
    rule TEXT NOT NULL, key TEXT NOT NULL, factor REAL, own_limit INTEGER, until_ms INTEGER NOT NULL,
    reason TEXT NOT NULL, PRIMARY KEY (rule, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE journal (id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, action TEXT NOT NULL, entry TEXT NOT NULL) STRICT;
`;
const MAX_OVERRIDES = 10_000;
const MAX_JOURNAL_ENTRIES = 10_000;

interface StoredOverride {
  readonly rule: string;
  readonly key: string;
  readonly factor: number | null;
  readonly own_limit: number | null;
  readonly until_ms: number;
  readonly reason: string;
}

/** A change of the overrides. */
export interface JournalEntry extends Override {
  readonly timeMs: number;
  /** `ended`: its time was over. */
  readonly action: 'set' | 'deleted' | 'ended';
}

export interface OverridesOptions {
  /** The data directory; in memory when left out. */
  readonly dataDir?: string;
  /** Whether the operator can set overrides. Otherwise, the file is only read if it exists. */
  readonly isWritable?: boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Limits of single keys that the operator has set. They are in memory for decisions, and in a file with a journal of
 * all changes. Each change is on disk before it is answered.
 */
export class Overrides implements LimitOverrides, OnApplicationShutdown {
  private readonly byKey = new Map<string, Override>();
  private readonly db: SqliteDatabase | undefined;
  private readonly now: () => number;

  /** @throws Error when the file can't be read */
  constructor({ dataDir, isWritable = true, now = Date.now }: OverridesOptions = {}) {
    this.now = now;
    const file = dataDir === undefined ? ':memory:' : join(dataDir, 'overrides.db');
    if (!isWritable && !existsSync(file)) return;
    this.db = new SqliteDatabase({ file, migrations: [SCHEMA] }).open();
    for (const row of this.db.all<StoredOverride>('SELECT * FROM overrides')) this.keep(overrideOf(row));
  }

  onApplicationShutdown(): void {
    this.db?.close();
  }

  limitOf({ name, by, limit }: OverridableRule, key: string): number | undefined {
    if (this.byKey.size === 0) return undefined;
    const own = this.inForce(name, key);
    const isForAll = own === undefined && (by === 'user' || by === 'room');
    const override = isForAll ? this.inForce(ALL_RULES, key) : own;
    return override && timesLimit(override, limit);
  }

  /** The limit that a user has of a cap. Overrides of all rules are none of caps. */
  capOf({ name, limit }: Pick<OverridableRule, 'name' | 'limit'>, userId: string): number {
    const override = this.byKey.size === 0 ? undefined : this.inForce(name, userId);
    return override ? timesLimit(override, limit) : limit;
  }

  /** What an override makes of the limit of a rule, as a factor; 1 without one. */
  factorOf(rules: readonly OverridableRule[], name: string, key: string): number {
    const rule = this.byKey.size === 0 ? undefined : rules.find((one) => one.name === name);
    const limit = rule && this.limitOf(rule, key);
    return limit === undefined ? 1 : limit / rule!.limit;
  }

  /** Those in force, in the order of their rules and keys. */
  list(): Override[] {
    this.removeEnded();
    return [...this.byKey.values()].sort((a, b) => compare(a.rule, b.rule) || compare(a.key, b.key));
  }

  /** The latest changes, the newest first. */
  journal(limit: number): JournalEntry[] {
    const sql = 'SELECT time_ms, action, entry FROM journal ORDER BY id DESC LIMIT ?';
    const rows = this.db?.all<{ time_ms: number; action: JournalEntry['action']; entry: string }>(sql, limit) ?? [];
    return rows.map(({ time_ms, action, entry }) => ({ ...(JSON.parse(entry) as Override), timeMs: time_ms, action }));
  }

  /** Sets or replaces an override. @throws MatrixError 400 M_LIMIT_EXCEEDED when there are too many */
  set(override: Override): void {
    this.removeEnded();
    const { rule, key, factor = null, limit = null, untilMs, reason } = override;
    if (!this.byKey.has(idOf(rule, key)) && this.byKey.size >= MAX_OVERRIDES)
      throw new MatrixError(400, 'M_LIMIT_EXCEEDED', `There are ${MAX_OVERRIDES} overrides already; delete some.`);
    this.change('set', override, (db) =>
      db.run('INSERT OR REPLACE INTO overrides VALUES (?, ?, ?, ?, ?, ?)', rule, key, factor, limit, untilMs, reason),
    );
    this.keep(override);
  }

  /** @returns whether there was one */
  delete(rule: string, key: string): boolean {
    this.removeEnded();
    const override = this.byKey.get(idOf(rule, key));
    if (override) this.remove('deleted', override);
    return override !== undefined;
  }

  private inForce(rule: string, key: string): Override | undefined {
    const override = this.byKey.get(idOf(rule, key));
    return override && override.untilMs > this.now() ? override : undefined;
  }

  private removeEnded(): void {
    const nowMs = this.now();
    for (const override of this.byKey.values()) if (override.untilMs <= nowMs) this.remove('ended', override);
  }

  private remove(action: 'deleted' | 'ended', override: Override): void {
    const { rule, key } = override;
    this.change(action, override, (db) => db.run('DELETE FROM overrides WHERE rule = ? AND key = ?', rule, key));
    this.byKey.delete(idOf(rule, key));
  }

  /** Writes a change and its entry in the journal, both or neither. */
  private change(action: JournalEntry['action'], override: Override, write: (db: SqliteDatabase) => void): void {
    const { db } = this;
    db?.transaction(() => {
      write(db);
      const sql = 'INSERT INTO journal (time_ms, action, entry) VALUES (?, ?, ?)';
      const id = db.insert(sql, this.now(), action, JSON.stringify(override));
      db.run('DELETE FROM journal WHERE id <= ?', id - MAX_JOURNAL_ENTRIES);
    });
  }

  private keep(override: Override): void {
    this.byKey.set(idOf(override.rule, override.key), override);
  }
}

/** The limit that an override makes of that of a rule. */
const timesLimit = ({ limit, factor = 1 }: Override, ofRule: number): number =>
  limit ?? Math.max(1, Math.round(ofRule * factor));

const idOf = (rule: string, key: string): string => `${rule} ${key}`;

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const overrideOf = ({ rule, key, factor, own_limit, until_ms, reason }: StoredOverride): Override => ({
  rule,
  key,
  ...(factor === null ? { limit: own_limit! } : { factor }),
  untilMs: until_ms,
  reason,
});
