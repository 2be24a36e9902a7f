import type { SQLInputValue } from 'node:sqlite';
import { FleetAuditLog, type JournalEntry, type JournalQuery } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

const CONDITIONS: Readonly<Record<Exclude<keyof JournalQuery, 'limit'>, string>> = {
  ref: 'ref = ?',
  caller: 'caller = ?',
  token: 'token = ?',
  outcome: 'outcome = ?',
  since: 'time >= ?',
  until: 'time < ?',
  before: 'id < ?',
};

/** The audit log of the registry, across all instances. */
export class SqliteFleetAuditLog extends FleetAuditLog {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override find(query: JournalQuery): readonly JournalEntry[] {
    const conditions: string[] = [];
    const values: SQLInputValue[] = [];
    for (const [field, condition] of Object.entries(CONDITIONS)) {
      const value = query[field as keyof typeof CONDITIONS];
      if (value === undefined) continue;
      conditions.push(condition);
      values.push(value);
    }
    return this.database
      .all<JournalEntry>(
        `SELECT id AS number, time, caller, action, ref, outcome, message, kind, token, address, route, status, code FROM audit
           ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`} ORDER BY id DESC LIMIT ?`,
        ...values,
        query.limit,
      )
      .map((row) => ({ ...row }));
  }
}
