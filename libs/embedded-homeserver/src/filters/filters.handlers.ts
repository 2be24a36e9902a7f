import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Database } from '../database.js';
import { Handlers } from '../handlers.js';
import { ownUser } from '../own-user.js';
import { canonicalFilter } from './filter-shape.js';

const FILTER_ID = /^(?:0|[1-9][0-9]{0,14})$/;

/** Filters for sync. A repeated filter keeps its ID, so a client may send it at every start. */
@Injectable()
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

  private async create(request: MatrixRequest): Promise<MatrixResponse> {
    const userId = ownUser(this.identity, request);
    const filter = await request.json();
    const id = this.idOf(userId, canonicalFilter(filter)) ?? this.add(userId, filter);
    return ok({ filter_id: String(id) });
  }

  private find(request: MatrixRequest): MatrixResponse {
    const userId = ownUser(this.identity, request);
    const id = request.param('filterId');
    const sql = 'SELECT content FROM filters WHERE user_id = ? AND filter_id = ?';
    const row = FILTER_ID.test(id) ? this.db.get<{ content: string }>(sql, userId, Number(id)) : undefined;
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
