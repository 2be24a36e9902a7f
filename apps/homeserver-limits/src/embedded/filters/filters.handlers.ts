import { canonicalJson, isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { type Answer, ok } from '../../wire/answer.js';
import type { MatrixRequest } from '../../wire/matrix-request.js';
import type { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import type { Database } from '../database.js';
import { Handlers } from '../handlers.js';
import { ownUser } from '../own-user.js';

/** Filters for sync. The same filter again gives the same id, so that a client may send its own at every start. */
export class FilterHandlers extends Handlers {
  constructor(
    private readonly db: Database,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    createFilter: (request: MatrixRequest) => this.create(request),
    getFilter: (request: MatrixRequest) => this.find(request),
  };

  private async create(request: MatrixRequest): Promise<Answer> {
    const userId = ownUser(this.identity, request);
    const filter = await request.json();
    const id = this.idOf(userId, canonicalFilter(filter)) ?? this.add(userId, filter);
    return ok({ filter_id: String(id) });
  }

  private find(request: MatrixRequest): Answer {
    const userId = ownUser(this.identity, request);
    const id = Number(request.param('filterId'));
    const sql = 'SELECT content FROM filters WHERE user_id = ? AND filter_id = ?';
    const row = Number.isSafeInteger(id) ? this.db.get<{ content: string }>(sql, userId, id) : undefined;
    if (!row) throw MatrixError.notFound('There is no such filter.');
    return ok(JSON.parse(row.content));
  }

  private add(userId: string, filter: JsonObject): number {
    return this.db.transaction(() => {
      const next = this.db.count('SELECT coalesce(max(filter_id), -1) + 1 AS n FROM filters WHERE user_id = ?', userId);
      const values = [userId, next, canonicalFilter(filter), JSON.stringify(filter)];
      this.db.run('INSERT INTO filters VALUES (?, ?, ?, ?)', ...values);
      return next;
    });
  }

  private idOf(userId: string, canonical: string): number | undefined {
    const sql = 'SELECT filter_id FROM filters WHERE user_id = ? AND canonical = ?';
    return this.db.get<{ filter_id: number }>(sql, userId, canonical)?.filter_id;
  }
}

/** Two filters are the same when this is. @throws MatrixError M_BAD_JSON for what is no filter */
export function canonicalFilter(filter: JsonObject): string {
  for (const part of ['presence', 'account_data', 'room'] as const) {
    if (filter[part] !== undefined && !isJsonObject(filter[part]))
      throw MatrixError.badJson(`${part} must be an object.`);
  }
  const { event_fields: fields } = filter;
  if (fields !== undefined && !(Array.isArray(fields) && fields.every((field) => typeof field === 'string'))) {
    throw MatrixError.badJson('event_fields must be a list of strings.');
  }
  return canonicalJson(filter);
}
