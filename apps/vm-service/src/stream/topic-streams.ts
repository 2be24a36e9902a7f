import { randomBytes } from 'node:crypto';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { STREAM_TOPICS, type StreamTopic } from '@headgate/api-contracts';
import { Clock, type Caller } from '@headgate/domain-contracts';
import { ChangeFeed, FeedView } from '@headgate/fleet';
import { StreamConnections, type StreamClient, type StreamSource } from '../fleet/stream-connections.js';
import { FollowedTopics } from './followed-topics.js';
import { type TopicChange } from './topics/topic.js';
import { eventText } from '../platform/event-text.js';
import { Topics } from './topics/topics.js';

export interface TopicStreamRequest extends StreamClient {
  /** Each of which the caller may read. */
  readonly topics: readonly StreamTopic[];
  readonly lastEventId?: string;
}

/** The position of a client, and the topics that it has everything of up to there. */
interface Position {
  readonly sequence: number;
  readonly topics: number;
}

/**
 * Sends the changes of several topics as one event stream. All clients who may read everything share one feed: each
 * change is serialized once for all those with the same topics. The others have a feed of their own.
 */
@Injectable()
export class TopicStreams implements BeforeApplicationShutdown {
  /** Distinguishes positions of this process from those of an earlier one. */
  private readonly boot = randomBytes(6).toString('base64url');
  private readonly feed: ChangeFeed<TopicChange>;
  private readonly shared: FollowedTopics;
  /** By the topics as bits. */
  private readonly views = new Map<number, FeedView<TopicChange>>();

  constructor(
    private readonly topics: Topics,
    private readonly clock: Clock,
    private readonly connections: StreamConnections,
  ) {
    this.feed = new ChangeFeed({ clock, serialize: () => Buffer.alloc(0) });
    this.shared = new FollowedTopics(topics, undefined, (change) => this.feed.push(keyOf(change), change));
  }

  /**
   * Answers a request with a stream. With `Last-Event-ID`, or `lastEventId` in the query, it continues there, if all of
   * the topics were followed up to there and it is still known.
   * @throws DomainError TOO_MANY_STREAMS
   */
  begin({ topics, lastEventId, ...client }: TopicStreamRequest): void {
    const { request, caller } = client;
    if (caller.grant.allowsAll('read')) {
      const position = request.headers['last-event-id'] ?? lastEventId;
      this.connections.begin(client, () => this.sharedSource(topics, this.positionOf(position)));
    } else {
      this.connections.expectRoomFor(caller);
      this.connections.begin(client, () => this.ownSource(topics, caller));
    }
  }

  beforeApplicationShutdown(): void {
    this.feed.close();
    this.shared.close();
  }

  private sharedSource(topics: readonly StreamTopic[], position: Position | undefined): StreamSource {
    const bits = bitsOf(topics);
    const close = this.shared.open(topics);
    const view = this.viewOf(bits);
    const isKnown = position !== undefined && (position.topics & bits) === bits;
    const resumeFrom = isKnown && view.since(position.sequence) !== 'expired' ? position.sequence : undefined;
    return {
      first: resumeFrom === undefined ? [] : [RESUMED],
      feed: view,
      snapshot: async (sequence) => [
        ...(await this.shared.snapshot(topics)),
        Buffer.from(eventText('ready', {}, this.idOf({ sequence, topics: bits }))),
      ],
      resumeFrom,
      beat: BEAT,
      close,
    };
  }

  private ownSource(topics: readonly StreamTopic[], caller: Caller): StreamSource {
    const feed = new ChangeFeed<TopicChange>({
      clock: this.clock,
      serialize: (changes) => Buffer.from(changes.map((change) => textOf(change)).join('')),
    });
    const followed = new FollowedTopics(this.topics, caller, (change) => feed.push(keyOf(change), change));
    followed.open(topics);
    return {
      first: [],
      feed,
      snapshot: async () => [...(await followed.snapshot(topics)), READY],
      // The positions of a feed of its own mean nothing in another one.
      resumeFrom: undefined,
      beat: BEAT,
      isOwned: true,
      close: () => {
        followed.close();
        feed.close();
      },
    };
  }

  private viewOf(bits: number): FeedView<TopicChange> {
    const known = this.views.get(bits);
    if (known) return known;
    const serialize = (changes: readonly TopicChange[], sequence: number): Buffer => {
      const id = this.idOf({ sequence, topics: bits });
      const last = changes.length - 1;
      return Buffer.from(changes.map((change, index) => textOf(change, index === last ? id : undefined)).join(''));
    };
    const view = new FeedView(this.feed, serialize, ({ topic }) => (bits & bitsOf([topic])) !== 0);
    this.views.set(bits, view);
    return view;
  }

  private idOf({ sequence, topics }: Position): string {
    return `${this.boot}-${topics}-${sequence}`;
  }

  private positionOf(id: string | string[] | undefined): Position | undefined {
    const [, boot, topics, sequence] = /^([\w-]{8})-(\d{1,3})-(\d{1,15})$/.exec(String(id ?? '')) ?? [];
    return boot === this.boot ? { topics: Number(topics), sequence: Number(sequence) } : undefined;
  }
}

const READY = Buffer.from(eventText('ready', {}));
const RESUMED = Buffer.from(eventText('resumed', {}));
/** An event, because a page does not see comments. */
const BEAT = Buffer.from(eventText('beat', {}));

const bitsOf = (topics: readonly StreamTopic[]): number =>
  topics.reduce((bits, topic) => bits | (1 << STREAM_TOPICS.indexOf(topic)), 0);

const keyOf = ({ topic, key }: TopicChange): string => `${topic}/${key}`;

const textOf = ({ topic, event, data }: TopicChange, id?: string): string => eventText(`${topic}.${event}`, data(), id);
