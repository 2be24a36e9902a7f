import type { StreamTopic } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import type { FollowedTopic, TopicChange } from './topics/topic.js';
import type { Topics } from './topics/topics.js';

/**
 * The topics that the streams of one feed need. A topic is followed from its first stream on, so that a later one may
 * continue; a costly one only as long as there is a stream.
 */
export class FollowedTopics {
  private readonly followed = new Map<StreamTopic, FollowedTopic>();
  private readonly streams = new Map<StreamTopic, number>();

  /** @param reader who may not read everything; undefined for all those who may */
  constructor(
    private readonly topics: Topics,
    private readonly reader: Caller | undefined,
    private readonly publish: (change: TopicChange) => void,
  ) {}

  /** Follows these topics for one stream. @returns called when the stream has ended */
  open(names: readonly StreamTopic[]): () => void {
    for (const name of names) {
      this.streams.set(name, (this.streams.get(name) ?? 0) + 1);
      if (!this.followed.has(name)) this.followed.set(name, this.topics.get(name).follow(this.reader, this.publish));
    }
    return () => {
      for (const name of names) this.release(name);
    };
  }

  /** The present state of these topics, in this order. */
  async snapshot(names: readonly StreamTopic[]): Promise<readonly Buffer[]> {
    const parts = await Promise.all(names.map((name) => this.followed.get(name)?.snapshot() ?? []));
    return parts.flat();
  }

  close(): void {
    for (const one of this.followed.values()) one.close();
    this.followed.clear();
  }

  private release(name: StreamTopic): void {
    const left = (this.streams.get(name) ?? 0) - 1;
    this.streams.set(name, left);
    if (left > 0 || !this.topics.get(name).isCostly) return;
    this.followed.get(name)?.close();
    this.followed.delete(name);
  }
}
