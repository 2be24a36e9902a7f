import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { CallerConnections } from '@headgate/access';
import { Clock, DomainError, type Caller } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsEncoding } from '../platform/accept-encoding.js';
import { EventStream, type EventStreamDeps } from './event-stream.js';
import { GZIP_HEADER, GzipBlocks } from './gzip/gzip-blocks.js';

/** Interval of the comment or event that keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;
/** A stream with a feed of its own costs memory, unlike those that share one. A browser has one or two. */
const MAX_OWN_FEEDS_PER_CALLER = 50;

export interface StreamClient {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
}

/** The events of one client, without the connection. */
export interface StreamSource extends Pick<EventStreamDeps, 'feed' | 'resumeFrom' | 'beat'> {
  /** The snapshot as an event whose ID is the given position, in pieces that may be shared. */
  readonly snapshot: (position: number) => readonly Buffer[] | Promise<readonly Buffer[]>;
  /** Sent before the snapshot. */
  readonly first: readonly Buffer[];
  /** Whether no other client shares the feed. */
  readonly isOwned?: boolean;
  /** Called once, when the client has gone. */
  readonly close?: () => void;
}

/**
 * The open event streams: their response, compression, heartbeat and end. A stream ends with the client, with the API
 * token or the session of its caller, and with the service.
 */
@Injectable()
export class StreamConnections implements BeforeApplicationShutdown {
  private readonly open = new Set<EventStream>();
  /** The number of streams with a feed of their own, by caller. */
  private readonly owned = new Map<string, number>();
  private stopHeartbeat: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly gzip: GzipBlocks,
    private readonly callers: CallerConnections,
  ) {}

  /**
   * Refuses one more stream with a feed of its own to a caller who has too many of them.
   * @throws DomainError TOO_MANY_STREAMS
   */
  expectRoomFor(caller: Caller): void {
    if ((this.owned.get(ownerOf(caller)) ?? 0) < MAX_OWN_FEEDS_PER_CALLER) return;
    const message = `You have ${MAX_OWN_FEEDS_PER_CALLER} open event streams; close one of them first.`;
    throw new DomainError('TOO_MANY_STREAMS', message);
  }

  /** Answers a request with a stream. @param open called only if events are sent, which HEAD does without */
  begin({ request: { headers, method }, reply, caller }: StreamClient, open: () => StreamSource): void {
    reply.hijack();
    const { raw } = reply;
    // A client that went away while its request waited emits no further `close`.
    if (raw.destroyed || raw.socket?.destroyed) return;
    const isGzip = acceptsEncoding(headers['accept-encoding'], 'gzip');
    // The body ends with the connection instead of being sent in HTTP chunks, so that all clients can share the bytes
    // of a batch.
    raw.useChunkedEncodingByDefault = false;
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      vary: 'accept, accept-encoding',
      ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
      connection: 'close',
    });
    if (method === 'HEAD') return void raw.end();
    raw.flushHeaders();
    const { first, snapshot, isOwned = false, close, ...source } = open();
    const stream = new EventStream({
      ...source,
      // The response of a pipelined request has no socket before its turn.
      out: raw.socket ?? raw,
      clock: this.clock,
      snapshot: (position) => {
        const pieces = snapshot(position);
        if (!isGzip) return pieces;
        return pieces instanceof Promise ? pieces.then((all) => this.gzip.parts(all)) : this.gzip.parts(pieces);
      },
      encode: isGzip ? (bytes) => this.gzip.part(bytes) : undefined,
    });
    this.stopHeartbeat ??= this.clock.every(HEARTBEAT_MS, () => {
      for (const one of this.open) one.beat();
    });
    this.open.add(stream);
    if (isOwned) this.count(caller, 1);
    const release = this.callers.closeWith(caller, () => raw.destroy());
    raw.once('close', () => {
      stream.stop();
      close?.();
      if (isOwned) this.count(caller, -1);
      release();
      this.open.delete(stream);
    });
    stream.start(isGzip ? [GZIP_HEADER, ...first.map((bytes) => this.gzip.part(bytes))] : first);
  }

  beforeApplicationShutdown(): void {
    this.stopHeartbeat?.();
    for (const stream of this.open) stream.end();
  }

  private count(caller: Caller, difference: number): void {
    const owner = ownerOf(caller);
    const count = (this.owned.get(owner) ?? 0) + difference;
    if (count === 0) this.owned.delete(owner);
    else this.owned.set(owner, count);
  }
}

const ownerOf = ({ login, token }: Caller): string => (token === undefined ? `login ${login}` : `token ${token}`);
