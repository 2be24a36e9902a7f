import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ListQuery, SortField } from '@headgate/api-contracts';
import { formatRef, type Grant, type InstanceKind } from '@headgate/domain-contracts';
import { FleetReader, queryEntries, type FleetEntry } from '@headgate/fleet';
import { MetricsSampler } from '@headgate/metrics';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../platform/caller.decorator.js';
import { acceptsEncoding } from '../platform/accept-encoding.js';
import { matchesEtag } from '../platform/etag.js';
import { sendPieces } from '../platform/send-pieces.js';
import { compileListQuery } from './compile-list-query.js';
import { EventStreams } from './event-streams.js';
import { GzipBlocks } from './gzip/gzip-blocks.js';
import { readable } from './readable.js';
import { presentUsage } from './present-usage.js';
import { presentEntry } from './present.js';

/** Serves the lists from the fleet, and the event stream to clients that ask for it. Never asks a backend. */
@Injectable()
export class ListReader {
  /** Part of the ETag, because the versions start from zero with each start of the service. */
  private readonly boot = randomBytes(6).toString('base64url');

  constructor(
    private readonly fleet: FleetReader,
    private readonly streams: EventStreams,
    private readonly gzip: GzipBlocks,
    private readonly metrics: MetricsSampler,
  ) {}

  async answer(kind: InstanceKind, query: ListQuery, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = callerOf(request);
    if (request.headers.accept?.includes('text/event-stream'))
      return this.streams.begin({ kind, request, reply, caller, lastEventId: query.lastEventId });
    await this.fleet.whenSynced();
    const { version, partial, json, pages } = this.fleet.list(kind);
    const isGzip = acceptsEncoding(request.headers['accept-encoding'], 'gzip');
    void reply.header('cache-control', 'no-cache').header('vary', 'accept, accept-encoding');
    if (partial) void reply.header('svc-partial', 'true');
    const { grant } = caller;
    const isWholeList = isWhole(query) && grant.allowsAll('read');
    if (isWholeList) {
      const etag = `"${this.boot}-${kind}-${version}${partial ? '-p' : ''}${isGzip ? '-gz' : ''}"`;
      void reply.header('etag', etag);
      if (matchesEtag(request.headers['if-none-match'], etag)) return void reply.status(304).send();
    }
    const pieces = isWholeList ? (isGzip ? pages : json) : [Buffer.from(this.page(kind, query, reply, grant))];
    void reply.header('content-type', 'application/json; charset=utf-8');
    if (isGzip) void reply.header('content-encoding', 'gzip');
    sendPieces(reply, isGzip ? await this.gzip.file(pieces) : pieces);
  }

  private page(
    kind: InstanceKind,
    { context, folder, q, sort, limit, cursor, usage }: ListQuery,
    reply: FastifyReply,
    grant: Grant,
  ): string {
    const page = queryEntries(readable(this.fleet.all(kind), grant), {
      context,
      folder,
      matches: q === undefined ? undefined : compileListQuery(q),
      sort: sort?.replace('-', '') as SortField | undefined,
      descending: sort?.startsWith('-'),
      limit: limit === undefined ? undefined : Number(limit),
      cursor,
    });
    if (page.cursor !== undefined) void reply.header('svc-cursor', page.cursor);
    return JSON.stringify(usage === undefined ? page.entries.map(presentEntry) : this.withUsage(page.entries, usage));
  }

  /** Each entry with its usage, or the usage alone. */
  private withUsage(entries: readonly FleetEntry[], usage: 'true' | 'only'): object[] {
    const measured = entries.map((entry) => ({ entry, sample: this.metrics.latest(entry.instance) }));
    if (usage === 'true')
      return measured.map(({ entry, sample }) => ({
        ...presentEntry(entry),
        usage: sample && presentUsage(sample),
      }));
    return measured.flatMap(({ entry: { instance }, sample }) =>
      sample ? [{ ref: formatRef(instance.ref), usage: presentUsage(sample) }] : [],
    );
  }
}

const isWhole = ({ context, folder, q, sort, limit, cursor, usage }: ListQuery): boolean =>
  [context, folder, q, sort, limit, cursor, usage].every((part) => part === undefined);
