import { randomBytes } from 'node:crypto';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ApiTokens } from '@headgate/access';
import { Clock, formatRef, INSTANCE_KINDS, type Caller, type InstanceKind } from '@headgate/domain-contracts';
import { ChangeFeed, FleetReader, type ContextState, type FleetEvent } from '@headgate/fleet';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsEncoding } from '../platform/accept-encoding.js';
import { EventStream } from './event-stream.js';
import { GrantedFeed } from './granted-feed.js';
import { GZIP_HEADER, GzipBlocks } from './gzip/gzip-blocks.js';
import { presentEntry } from './present.js';

/** Interval of the comment that keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;

export interface StreamRequest {
  readonly kind: InstanceKind;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
  readonly lastEventId?: string;
}

/**
 * Sends the changes of the fleet as server-sent events: one `snapshot`, then `changed`, `removed` and `status`. Each
 * change is serialized once for all clients.
 */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  /** Distinguishes positions of this process from those of an earlier one. */
  private readonly boot = randomBytes(6).toString('base64url');
  private readonly open = new Set<EventStream>();
  private readonly feeds: Record<InstanceKind, ChangeFeed<FleetEvent>>;
  private unsubscribe: (() => void) | undefined;
  private stopHeartbeat: (() => void) | undefined;

  constructor(
    private readonly fleet: FleetReader,
    private readonly clock: Clock,
    private readonly gzip: GzipBlocks,
    private readonly tokens: ApiTokens,
  ) {
    const feed = (): ChangeFeed<FleetEvent> =>
      new ChangeFeed({
        clock,
        serialize: (changes, position) => {
          const last = changes.length - 1;
          const id = this.idOf(position);
          return Buffer.from(changes.map((change, index) => eventOf(change, index === last ? id : undefined)).join(''));
        },
      });
    this.feeds = { vm: feed(), ct: feed() };
  }

  /**
   * Answers a request with a stream. A client that sends `Last-Event-ID`, or `lastEventId` in the query, because a page
   * can't set headers, continues where it stopped, if that is still known.
   */
  async begin({ kind, request: { headers, method }, reply, caller, lastEventId }: StreamRequest): Promise<void> {
    await this.fleet.whenSynced();
    // Changes are only kept once a client has asked for a stream.
    this.unsubscribe ??= this.fleet.subscribe((change) => this.publish(change));
    reply.hijack();
    const { raw } = reply;
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
    const granted = this.grantedFeed(kind, caller);
    const stream = new EventStream({
      // The response of a pipelined request has no socket before its turn.
      out: raw.socket ?? raw,
      feed: granted?.feed ?? this.feeds[kind],
      clock: this.clock,
      snapshot: (position) => {
        const pieces = granted ? [SNAPSHOT, granted.snapshot(), END] : this.snapshot(kind, position);
        return isGzip ? this.gzip.parts(pieces) : pieces;
      },
      encode: isGzip ? (bytes) => this.gzip.part(bytes) : undefined,
      // The positions of a feed of its own mean nothing in another one.
      resumeFrom: granted ? undefined : this.positionOf(headers['last-event-id'] ?? lastEventId),
    });
    this.stopHeartbeat ??= this.clock.every(HEARTBEAT_MS, () => {
      for (const one of this.open) one.beat();
    });
    this.open.add(stream);
    const release = caller.token === undefined ? undefined : this.tokens.closeWith(caller.token, () => raw.destroy());
    raw.once('close', () => {
      stream.stop();
      granted?.close();
      release?.();
      this.open.delete(stream);
    });
    const states = this.fleet.states().map((state) => Buffer.from(eventOf({ type: 'status', state })));
    stream.start(isGzip ? [GZIP_HEADER, ...states.map((state) => this.gzip.part(state))] : states);
  }

  beforeApplicationShutdown(): void {
    this.unsubscribe?.();
    this.stopHeartbeat?.();
    for (const kind of INSTANCE_KINDS) this.feeds[kind].close();
    for (const stream of this.open) stream.end();
  }

  /** A feed of its own for a client that may not read every instance. */
  private grantedFeed(kind: InstanceKind, { grant }: Caller): GrantedFeed | undefined {
    if (grant.allowsAll('read')) return undefined;
    const { fleet, clock } = this;
    const serialize = (changes: readonly FleetEvent[]): Buffer =>
      Buffer.from(changes.map((change) => eventOf(change)).join(''));
    return new GrantedFeed({ fleet, kind, grant, clock, serialize });
  }

  private publish(change: FleetEvent): void {
    if (change.type === 'status') {
      for (const kind of INSTANCE_KINDS) this.feeds[kind].push(`status/${change.state.context}`, change);
      return;
    }
    const { ref } = change.type === 'changed' ? change.entry.instance : change.instance;
    this.feeds[ref.kind].push(formatRef(ref), change);
  }

  private snapshot(kind: InstanceKind, position: number): readonly Buffer[] {
    const head = `event: snapshot\nid: ${this.idOf(position)}\ndata: `;
    return [Buffer.from(head), ...this.fleet.snapshot(kind), END];
  }

  private readonly idOf = (position: number): string => `${this.boot}-${position}`;

  private positionOf(id: string | string[] | undefined): number | undefined {
    const [, boot, position] = /^([\w-]{8})-(\d{1,15})$/.exec(String(id ?? '')) ?? [];
    return boot === this.boot ? Number(position) : undefined;
  }
}

const SNAPSHOT = Buffer.from('event: snapshot\ndata: ');
const END = Buffer.from('\n\n');

/** @param id where a client continues after this event */
function eventOf(change: FleetEvent, id?: string): string {
  switch (change.type) {
    case 'status':
      return event('status', presentState(change.state), id);
    case 'changed':
      return event('changed', presentEntry(change.entry), id);
    case 'removed':
      return event('removed', { ref: formatRef(change.instance.ref) }, id);
  }
}

const event = (name: string, data: unknown, id?: string): string =>
  `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

const presentState = ({ context, kind, state, reason }: ContextState): object => ({
  context,
  backend: kind,
  up: state === 'up',
  reason,
});
