import { AuditLog, type AuditEntry } from '@headgate/domain-contracts';

/** An audit log in memory. */
export class MemoryAuditLog extends AuditLog {
  readonly entries: AuditEntry[] = [];

  override append(entry: AuditEntry): void {
    this.entries.push(entry);
  }

  override recent(): readonly AuditEntry[] {
    return this.entries;
  }
}
