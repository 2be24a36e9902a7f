import type { SQLInputValue } from 'node:sqlite';
import {
  FleetAuditLog,
  JournalPositions,
  type ActivityCount,
  type ActivitySpans,
  type CallerCount,
  type ChainedJournalEntry,
  type JournalEntry,
  type JournalHead,
  type JournalLinks,
  type JournalQuery,
  type JournalSummary,
} from '@headgate/domain-contracts';
import { NO_HASH } from '@headgate/journal-chain';
import type { RegistryDatabase } from './registry-database.js';

const CONDITIONS: Readonly<Record<Exclude<keyof JournalQuery, 'limit'>, string>> = {
  ref: 'ref = ?',
  caller: 'caller = ?',
  token: 'token = ?',
  outcome: 'outcome = ?',
  action: 'instr(lower(action), lower(?)) > 0',
  since: 'time >= ?',
  until: 'time < ?',
  before: 'id < ?',
};

const COLUMNS = 'id AS number, time, caller, action, ref, outcome, message, kind, token, address, route, status, code';

/**
 * Entries that count as actions. A request that began a task has further entries of its own, and a download changes
 * nothing.
 */
const IS_ACTION = `(kind <> 'request' OR (status IS NOT 202 AND route NOT LIKE 'GET %'))`;

/** The audit log of the registry, across all instances. */
export class SqliteFleetAuditLog extends FleetAuditLog {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override find(query: JournalQuery): readonly JournalEntry[] {
    const { where, values } = toWhere(query);
    return this.database
      .all<JournalEntry>(
        `SELECT ${COLUMNS} FROM audit
           ${where} ORDER BY id DESC LIMIT ?`,
        ...values,
        query.limit,
      )
      .map((row) => ({ ...row }));
  }

  override countActions({ since, spanMs }: ActivitySpans): readonly ActivityCount[] {
    return this.database
      .all<ActivityCount>(
        `SELECT CAST((CAST(round(unixepoch(time, 'subsec') * 1000) AS INTEGER) - ?) / ? AS INTEGER) AS span,
           sum(outcome = 'ok' AND token = '') AS users, sum(outcome = 'ok' AND token <> '') AS tokens,
           sum(outcome = 'error') AS failed
           FROM audit WHERE time >= ? AND outcome <> 'denied' AND ${IS_ACTION} GROUP BY span ORDER BY span`,
        since,
        spanMs,
        new Date(since).toISOString(),
      )
      .map((row) => ({ ...row }));
  }

  override summarize(query: JournalQuery): JournalSummary {
    const { where, values } = toWhere(query);
    const [counts] = this.database.all<Omit<JournalSummary, 'callers'>>(
      `SELECT count(*) AS entries, coalesce(sum(outcome = 'error'), 0) AS failed,
         coalesce(sum(outcome = 'denied'), 0) AS denied, count(DISTINCT nullif(ref, '')) AS objects FROM audit ${where}`,
      ...values,
    );
    const callers = this.database.all<CallerCount>(
      `SELECT caller, token, count(*) AS entries FROM audit ${where}
         GROUP BY caller, token ORDER BY entries DESC, caller, token LIMIT ?`,
      ...values,
      query.limit,
    );
    return {
      ...(counts ?? { entries: 0, failed: 0, denied: 0, objects: 0 }),
      callers: callers.map((row) => ({ ...row })),
    };
  }

  override after(number: number, limit: number): readonly ChainedJournalEntry[] {
    return this.database
      .all<JournalEntry & { [Field in keyof JournalLinks]: string | null }>(
        `SELECT ${COLUMNS}, lower(hex(previous_action)) AS previousAction, lower(hex(previous_request)) AS previousRequest,
           CASE WHEN hash IS NULL THEN NULL ELSE lower(hex(hash)) END AS hash
           FROM audit WHERE id > ? AND kind <> 'simulated' ORDER BY id LIMIT ?`,
        number,
        limit,
      )
      .map(({ previousAction, previousRequest, hash, ...entry }) =>
        hash === null
          ? entry
          : { ...entry, links: { previousAction: previousAction ?? '', previousRequest: previousRequest ?? '', hash } },
      );
  }

  override head(): JournalHead {
    const newest = this.database.get<JournalHead>(
      `SELECT number, lower(hex(hash)) AS hash FROM
         (SELECT id AS number, hash FROM audit WHERE hash IS NOT NULL AND id = (SELECT max(id) FROM audit)
          UNION ALL SELECT number, hash FROM audit_anchor) ORDER BY number DESC LIMIT 1`,
    );
    return newest ? { ...newest } : { number: 0, hash: NO_HASH };
  }

  override deleted(): Readonly<Record<'action' | 'request', number>> {
    const rows = this.database.all<{ kind: string; number: number }>('SELECT kind, number FROM audit_anchor');
    const of = (kind: string): number => rows.find((row) => row.kind === kind)?.number ?? 0;
    return { action: of('action'), request: of('request') };
  }
}

/** The positions in the registry. */
export class SqliteJournalPositions extends JournalPositions {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override get(reader: string): number | undefined {
    return this.database.get<{ number: number }>('SELECT number FROM audit_reader WHERE name = ?', reader)?.number;
  }

  override set(reader: string, number: number): void {
    this.database.run('INSERT OR REPLACE INTO audit_reader (name, number) VALUES (?, ?)', reader, number);
  }
}

function toWhere(query: JournalQuery): { where: string; values: SQLInputValue[] } {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  for (const [field, condition] of Object.entries(CONDITIONS)) {
    const value = query[field as keyof typeof CONDITIONS];
    if (value === undefined) continue;
    conditions.push(condition);
    values.push(value);
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}
