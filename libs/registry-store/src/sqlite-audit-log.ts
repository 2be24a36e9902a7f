import { AuditLog, type AuditEntry, type Clock, SystemClock } from '@headgate/domain-contracts';
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

/** AuditLog over the registry. Keeps a limited number of entries, for a limited time. */
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
    const id = this.insert(entry);
    if (id % ENTRIES_PER_CLEANUP === 0) this.deleteOld();
  }

  override replaceSimulated(entries: readonly AuditEntry[]): void {
    // Usually there is nothing to do, which has to work on a full disk, too.
    if (entries.length === 0 && !this.database.get(`SELECT 1 FROM audit WHERE kind = 'simulated' LIMIT 1`)) return;
    this.database.transaction(() => {
      this.database.run(`DELETE FROM audit WHERE kind = 'simulated'`);
      // They would be newer than those that the log has.
      if (this.database.get('SELECT 1 FROM audit LIMIT 1')) return;
      for (const entry of entries) this.insert({ ...entry, kind: 'simulated' });
    });
  }

  private insert(entry: AuditEntry): number {
    const { time, caller, action, ref, outcome, message, status } = entry;
    const { kind = 'action', token = '', address = '', route = '', code = '' } = entry;
    return this.database.insert(
      `INSERT INTO audit (time, caller, action, ref, outcome, message, kind, token, address, route, status, code)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      time,
      caller,
      action,
      ref,
      outcome,
      message.slice(0, MAX_MESSAGE_CHARS),
      kind,
      token,
      address,
      route,
      status ?? null,
      code,
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

  private deleteOld(): void {
    const oldest = new Date(this.clock.now() - this.retention.maxDays * DAY_MS).toISOString();
    this.database.run('DELETE FROM audit WHERE time < ?', oldest);
    for (const [kind, count] of [
      ['action', this.retention.maxEntries],
      ['request', MAX_REQUESTS],
    ] as const)
      this.database.run(
        `DELETE FROM audit WHERE kind = ? AND id <=
           (SELECT id FROM audit WHERE kind = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
        kind,
        kind,
        count,
      );
  }
}
