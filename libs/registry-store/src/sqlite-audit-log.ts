import { AuditLog, type AuditEntry } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** How many entries are kept. */
const KEPT = 100_000;

/** AuditLog over the embedded database. */
export class SqliteAuditLog extends AuditLog {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override append({ time, caller, action, ref, outcome, message }: AuditEntry): void {
    const { lastInsertRowid } = this.database
      .statement('INSERT INTO audit (time, caller, action, ref, outcome, message) VALUES (?, ?, ?, ?, ?, ?)')
      .run(time, caller, action, ref, outcome, message);
    if (Number(lastInsertRowid) % 1000 === 0) {
      this.database.statement('DELETE FROM audit WHERE id <= ?').run(Number(lastInsertRowid) - KEPT);
    }
  }

  override recent(limit: number, ref?: string): readonly AuditEntry[] {
    const columns = 'SELECT time, caller, action, ref, outcome, message FROM audit';
    const rows =
      ref === undefined
        ? this.database.statement(`${columns} ORDER BY id DESC LIMIT ?`).all(limit)
        : this.database.statement(`${columns} WHERE ref = ? ORDER BY id DESC LIMIT ?`).all(ref, limit);
    return rows.map((row) => ({ ...row }) as unknown as AuditEntry);
  }
}
