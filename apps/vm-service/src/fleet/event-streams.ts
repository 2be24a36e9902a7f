import { randomBytes } from 'node:crypto';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Clock, formatRef, INSTANCE_KINDS, type Caller, type InstanceKind } from '@headgate/domain-contracts';
import { ChangeFeed, FleetReader, type FleetEvent } from '@headgate/fleet';
import { GrantedFeed } from './granted-feed.js';
import { presentState } from './present-state.js';
import { presentEntry } from './present.js';
import { StreamConnections, type StreamClient } from './stream-connections.js';

export interface StreamRequest extends StreamClient {
  readonly kind: InstanceKind;
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
  private readonly feeds: Record<InstanceKind, ChangeFeed<FleetEvent>>;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly fleet: FleetReader,
    private readonly clock: Clock,
    private readonly connections: StreamConnections,
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
   * @throws DomainError TOO_MANY_STREAMS
   */
  async begin({ kind, request, reply, caller, lastEventId }: StreamRequest): Promise<void> {
    await this.fleet.whenSynced();
    // Changes are only kept once a client has asked for a stream.
    this.unsubscribe ??= this.fleet.subscribe((change) => this.publish(change));
    const isGranted = !caller.grant.allowsAll('read');
    if (isGranted) this.connections.expectRoomFor(caller);
    this.connections.begin({ request, reply, caller }, () => {
      const first = this.fleet.states().map((state) => Buffer.from(eventOf({ type: 'status', state })));
      const granted = isGranted ? this.grantedFeed(kind, caller) : undefined;
      if (granted) {
        const snapshot = () => [SNAPSHOT, granted.snapshot(), END];
        // The positions of a feed of its own mean nothing in another one.
        return {
          first,
          feed: granted.feed,
          snapshot,
          resumeFrom: undefined,
          isOwned: true,
          close: () => granted.close(),
        };
      }
      return {
        first,
        feed: this.feeds[kind],
        snapshot: (position) => this.snapshot(kind, position),
        resumeFrom: this.positionOf(request.headers['last-event-id'] ?? lastEventId),
      };
    });
  }

  beforeApplicationShutdown(): void {
    this.unsubscribe?.();
    for (const kind of INSTANCE_KINDS) this.feeds[kind].close();
  }

  /** A feed of its own for a client that may not read every instance. */
  private grantedFeed(kind: InstanceKind, { grant }: Caller): GrantedFeed {
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
