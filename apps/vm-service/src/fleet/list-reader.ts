import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ListQuery, SortField } from '@headgate/api-contracts';
import { DomainError, formatRef, type InstanceKind } from '@headgate/domain-contracts';
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
import { PastLists } from './past-lists.js';
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
    private readonly past: PastLists,
  ) {}

  async answer(kind: InstanceKind, query: ListQuery, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = callerOf(request);
    if (request.headers.accept?.includes('text/event-stream') && query.at === undefined)
      return this.streams.begin({ kind, request, reply, caller, lastEventId: query.lastEventId });
    await this.fleet.whenSynced();
    if (query.at !== undefined) return this.answerPast(kind, query.at, query, request, reply);
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
    const entries = (): Iterable<FleetEntry> => readable(this.fleet.all(kind), grant);
    const pieces = isWholeList ? (isGzip ? pages : json) : [this.page(entries(), query, reply)];
    await this.send(pieces, isGzip, reply);
  }

  /** The list as of a time. It has no ETag: pages read each moment once. */
  private async answerPast(
    kind: InstanceKind,
    at: string,
    query: ListQuery,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    if (request.headers.accept?.includes('text/event-stream'))
      throw new DomainError('INVALID_INPUT', 'at: an event stream begins with the list of now; leave at out.');
    if (query.usage !== undefined)
      throw new DomainError('INVALID_INPUT', 'usage: the history of the list has no usage; leave usage or at out.');
    const { entries, isPartial, gap } = await this.past.read(kind, at, callerOf(request).grant);
    if (isPartial) void reply.header('svc-partial', 'true');
    if (gap !== undefined) void reply.header('svc-gap', gap);
    void reply.header('vary', 'accept, accept-encoding');
    const isGzip = acceptsEncoding(request.headers['accept-encoding'], 'gzip');
    await this.send([this.page(entries, query, reply)], isGzip, reply);
  }

  private async send(pieces: readonly Buffer[], isGzip: boolean, reply: FastifyReply): Promise<void> {
    void reply.header('content-type', 'application/json; charset=utf-8');
    if (isGzip) void reply.header('content-encoding', 'gzip');
    sendPieces(reply, isGzip ? await this.gzip.file(pieces) : pieces);
  }

  private page(
    entries: Iterable<FleetEntry>,
    { context, folder, q, sort, limit, cursor, usage }: ListQuery,
    reply: FastifyReply,
  ): Buffer {
    const page = queryEntries(entries, {
      context,
      folder,
      matches: q === undefined ? undefined : compileListQuery(q),
      sort: sort?.replace('-', '') as SortField | undefined,
      descending: sort?.startsWith('-'),
      limit: limit === undefined ? undefined : Number(limit),
      cursor,
    });
    if (page.cursor !== undefined) void reply.header('svc-cursor', page.cursor);
    const presented = usage === undefined ? page.entries.map(presentEntry) : this.withUsage(page.entries, usage);
    return Buffer.from(JSON.stringify(presented));
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
