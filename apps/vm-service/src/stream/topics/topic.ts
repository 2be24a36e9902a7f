import type { StreamTopic } from '@headgate/api-contracts';
import type { Need } from '@headgate/access';
import type { Caller } from '@headgate/domain-contracts';

/** A change in a topic. */
export interface TopicChange {
  readonly topic: StreamTopic;
  /** Distinguishes objects: a client that falls behind receives only the newest change of each. */
  readonly key: string;
  /** The name of the event without the topic. */
  readonly event: string;
  /** The JSON value of the event. Called when it is sent, so that a change without readers costs nothing. */
  readonly data: () => unknown;
}

/** A topic as one reader sees it. */
export interface FollowedTopic {
  /** The present state, as whole events; none while it is not known yet, and then follows as a change. */
  snapshot(): readonly Buffer[] | Promise<readonly Buffer[]>;
  close(): void;
}

/** A part of the stream, with the rights of the route that has the same data. */
export abstract class Topic {
  abstract readonly name: StreamTopic;
  /** What its route needs. */
  abstract readonly need: Need;
  /**
   * Whether following it costs something while nothing changes, so that it ends with its last reader. Those who
   * continue later may have missed changes, so such a topic first publishes its present state.
   */
  readonly isCostly: boolean = false;

  /**
   * @param reader who may not read everything; undefined for all those who may, who see the same
   * @param publish called with each later change
   */
  abstract follow(reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic;
}

/** An event without a position. @param data pieces of its JSON, which may be shared */
export const eventPieces = (name: string, data: readonly Buffer[]): readonly Buffer[] => [
  Buffer.from(`event: ${name}\ndata: `),
  ...data,
  EVENT_END,
];

const EVENT_END = Buffer.from('\n\n');
