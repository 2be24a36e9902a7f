import { AuditLog, type AuditEntry } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

const MAX_ENTRIES = 100_000;
/** Old entries are deleted once per this many new ones. */
const ENTRIES_PER_CLEANUP = 1000;

/** AuditLog over the registry. Keeps the newest 100,000 entries. */
export class SqliteAuditLog extends AuditLog {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override append({ time, caller, action, ref, outcome, message }: AuditEntry): void {
    const id = this.database.insert(
      'INSERT INTO audit (time, caller, action, ref, outcome, message) VALUES (?, ?, ?, ?, ?, ?)',
      time,
      caller,
      action,
      ref,
      outcome,
      message,
    );
    if (id % ENTRIES_PER_CLEANUP === 0) this.database.run('DELETE FROM audit WHERE id <= ?', id - MAX_ENTRIES);
  }

  override recent(limit: number, ref?: string): readonly AuditEntry[] {
    const columns = 'SELECT time, caller, action, ref, outcome, message FROM audit';
    const rows =
      ref === undefined
        ? this.database.all<AuditEntry>(`${columns} ORDER BY id DESC LIMIT ?`, limit)
        : this.database.all<AuditEntry>(`${columns} WHERE ref = ? ORDER BY id DESC LIMIT ?`, ref, limit);
    return rows.map((row) => ({ ...row }));
  }
}
