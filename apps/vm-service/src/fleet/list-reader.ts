import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ListQuery, SortField } from '@headgate/api-contracts';
import { DomainError, type InstanceKind } from '@headgate/domain-contracts';
import { FleetReader, queryEntries } from '@headgate/fleet';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EventStreams } from './event-streams.js';
import { presentEntry } from './present.js';

/** Most entries on one page. */
const MAX_LIMIT = 10_000;

/** Serves the lists from the fleet, and the event stream to clients that ask for it. Never asks a backend. */
@Injectable()
export class ListReader {
  /** Part of the ETag, because the versions start from zero with each start of the service. */
  private readonly boot = randomBytes(6).toString('base64url');

  constructor(
    private readonly fleet: FleetReader,
    private readonly streams: EventStreams,
  ) {}

  async answer(kind: InstanceKind, query: ListQuery, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.headers.accept?.includes('text/event-stream')) return this.streams.begin(kind, request, reply);
    await this.fleet.whenSynced();
    const { version, partial, json } = this.fleet.list(kind);
    const etag = `"${this.boot}-${kind}-${version}${partial ? '-p' : ''}"`;
    void reply.header('cache-control', 'no-cache').header('vary', 'accept');
    if (partial) void reply.header('svc-partial', 'true');
    if (isWhole(query)) {
      void reply.header('etag', etag);
      if (matches(request.headers['if-none-match'], etag)) return void reply.status(304).send();
    }
    void reply.header('content-type', 'application/json; charset=utf-8');
    if (!isWhole(query)) return void reply.send(this.page(kind, query, reply));
    const [only] = json;
    if (only && json.length === 1) return void reply.send(only);
    void reply.header(
      'content-length',
      json.reduce((sum, { length }) => sum + length, 0),
    );
    void reply.send(Readable.from(json));
  }

  private page(
    kind: InstanceKind,
    { context, folder, q, sort, limit, cursor }: ListQuery,
    reply: FastifyReply,
  ): string {
    if (limit !== undefined && Number(limit) > MAX_LIMIT) {
      throw new DomainError('INVALID_INPUT', `limit must be a number from 1 to ${MAX_LIMIT}.`);
    }
    const page = queryEntries(this.fleet.all(kind), {
      context,
      folder,
      words: q?.split(/\s+/).filter(Boolean),
      sort: sort?.replace('-', '') as SortField | undefined,
      descending: sort?.startsWith('-'),
      limit: limit === undefined ? undefined : Number(limit),
      cursor,
    });
    if (page.cursor !== undefined) void reply.header('svc-cursor', page.cursor);
    return JSON.stringify(page.entries.map(presentEntry));
  }
}

const isWhole = ({ context, folder, q, sort, limit, cursor }: ListQuery): boolean =>
  [context, folder, q, sort, limit, cursor].every((part) => part === undefined);

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag));
