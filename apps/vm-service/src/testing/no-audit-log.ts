import { AuditLog, type AuditEntry } from '@headgate/domain-contracts';

/** An audit log that keeps nothing, for processes whose entries no test reads. */
export class NoAuditLog extends AuditLog {
  override append(): void {
    // Nothing is kept.
  }

  override recent(): readonly AuditEntry[] {
    return [];
  }
}
