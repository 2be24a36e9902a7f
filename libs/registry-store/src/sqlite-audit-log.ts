import { AuditLog, type AuditEntry, type Clock, SystemClock } from '@headgate/domain-contracts';
import { CHAINED_KINDS, hashEntry, NO_HASH, wellFormed, type LinkedEntry } from '@headgate/journal-chain';
import type { RegistryDatabase } from './registry-database.js';

export interface AuditRetention {
  /** The actions that are kept. */
  readonly maxEntries: number;
  /** Older entries are deleted. */
  readonly maxDays: number;
}

const DEFAULT_RETENTION: AuditRetention = { maxEntries: 100_000, maxDays: 400 };
/**
 * Requests that no use case recorded, such as denied ones, have a share of their own: they can't push the actions out.
 */
const MAX_REQUESTS = 10_000;
/** Old entries are deleted once per this many new ones. */
const ENTRIES_PER_CLEANUP = 500;
/** A message may quote a program or a guest. */
const MAX_MESSAGE_CHARS = 2000;
const DAY_MS = 24 * 60 * 60_000;
const NEWEST_NUMBER = `SELECT max(coalesce((SELECT max(id) FROM audit), 0),
  coalesce((SELECT max(number) FROM audit_anchor), 0)) AS n`;

/**
 * AuditLog over the registry. Keeps a limited number of entries, for a limited time. Each entry has the hashes of the
 * newest action and the newest request before it, and a hash over itself. An entry and its hashes are one statement, so
 * a write that fails or is interrupted leaves the chain as it was.
 */
export class SqliteAuditLog extends AuditLog {
  constructor(
    private readonly database: RegistryDatabase,
    private readonly retention: AuditRetention = DEFAULT_RETENTION,
    private readonly clock: Clock = new SystemClock(),
  ) {
    super();
  }

  override reserve(): () => void {
    return this.database.reserve.take();
  }

  override append(entry: AuditEntry): void {
    const id = this.database.transaction(() => this.insertChained(entry));
    if (id % ENTRIES_PER_CLEANUP === 0) this.deleteOld();
  }

  override replaceSimulated(entries: readonly AuditEntry[]): void {
    // Usually there is nothing to do, which has to work on a full disk, too.
    if (entries.length === 0 && !this.database.get(`SELECT 1 FROM audit WHERE kind = 'simulated' LIMIT 1`)) return;
    this.database.transaction(() => {
      this.database.run(`DELETE FROM audit WHERE kind = 'simulated'`);
      // They would be newer than those that the log has, or had.
      if (this.database.get('SELECT 1 FROM audit UNION ALL SELECT 1 FROM audit_anchor LIMIT 1')) return;
      for (const entry of entries) this.insert({ ...entry, kind: 'simulated' }, [null, null, null]);
    });
  }

  private insertChained(entry: AuditEntry): number {
    const [action, request] = CHAINED_KINDS.map((kind) => this.newest(kind));
    const linked = {
      ...textsOf(entry),
      status: entry.status ?? null,
      kind: entry.kind === 'request' ? ('request' as const) : ('action' as const),
      number: this.database.count(NEWEST_NUMBER) + 1,
      previousAction: action ?? NO_HASH,
      previousRequest: request ?? NO_HASH,
    } satisfies LinkedEntry;
    const hashes = [linked.previousAction, linked.previousRequest, hashEntry(linked)];
    return this.insert(
      entry,
      hashes.map((hash) => Buffer.from(hash, 'hex')),
      linked.number,
    );
  }

  /** The hash of the newest entry of a kind, which may be deleted already. */
  private newest(kind: string): string | undefined {
    const row =
      this.database.get<{ hash: string }>(
        'SELECT lower(hex(hash)) AS hash FROM audit WHERE kind = ? AND hash IS NOT NULL ORDER BY id DESC LIMIT 1',
        kind,
      ) ??
      this.database.get<{ hash: string }>('SELECT lower(hex(hash)) AS hash FROM audit_anchor WHERE kind = ?', kind);
    return row?.hash;
  }

  private insert(entry: AuditEntry, hashes: readonly (Buffer | null)[], number: number | null = null): number {
    const { time, caller, action, ref, outcome, message, token, address, route, code } = textsOf(entry);
    return this.database.insert(
      `INSERT INTO audit (id, time, caller, action, ref, outcome, message, kind, token, address, route, status, code,
           previous_action, previous_request, hash)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      number,
      time,
      caller,
      action,
      ref,
      outcome,
      message,
      entry.kind ?? 'action',
      token,
      address,
      route,
      entry.status ?? null,
      code,
      ...hashes,
    );
  }

  override recent(limit: number, ref?: string): readonly AuditEntry[] {
    const columns = `SELECT time, caller, action, ref, outcome, message FROM audit WHERE kind = 'action'`;
    const rows =
      ref === undefined
        ? this.database.all<AuditEntry>(`${columns} ORDER BY id DESC LIMIT ?`, limit)
        : this.database.all<AuditEntry>(`${columns} AND ref = ? ORDER BY id DESC LIMIT ?`, ref, limit);
    return rows.map((row) => ({ ...row }));
  }

  /** Deletes the oldest entries of each kind, so that the others stay a chain, and notes the newest of them. */
  private deleteOld(): void {
    const oldest = new Date(this.clock.now() - this.retention.maxDays * DAY_MS).toISOString();
    this.database.transaction(() => {
      this.database.run(`DELETE FROM audit WHERE kind = 'simulated' AND time < ?`, oldest);
      this.deleteOldest('action', oldest, this.retention.maxEntries);
      this.deleteOldest('request', oldest, MAX_REQUESTS);
    });
  }

  private deleteOldest(kind: string, oldest: string, count: number): void {
    const { database } = this;
    // A clock may have been set back, so an old entry may follow a younger one.
    const expired = database.count(
      `SELECT coalesce((SELECT id - 1 FROM audit WHERE kind = ? AND time >= ? ORDER BY id LIMIT 1),
           (SELECT max(id) FROM audit WHERE kind = ?), 0) AS n`,
      kind,
      oldest,
      kind,
    );
    const surplus = database.count(
      'SELECT coalesce((SELECT id FROM audit WHERE kind = ? ORDER BY id DESC LIMIT 1 OFFSET ?), 0) AS n',
      kind,
      count,
    );
    const last = Math.max(expired, surplus);
    database.run(
      `INSERT OR REPLACE INTO audit_anchor (kind, number, hash)
         SELECT kind, id, hash FROM audit WHERE kind = ? AND id <= ? AND hash IS NOT NULL ORDER BY id DESC LIMIT 1`,
      kind,
      last,
    );
    database.run('DELETE FROM audit WHERE kind = ? AND id <= ?', kind, last);
  }
}

/** The texts of an entry as they are stored and hashed. */
function textsOf(entry: AuditEntry) {
  const { token = '', address = '', route = '', code = '' } = entry;
  const { time, caller, action, ref, outcome } = entry;
  const message = entry.message.slice(0, MAX_MESSAGE_CHARS);
  const texts = { time, caller, action, ref, outcome, message, token, address, route, code };
  return Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, wellFormed(text)])) as typeof texts;
}
