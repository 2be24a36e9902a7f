import type { Clock } from '@headgate/domain-contracts';
import { FeedView, type FeedBatch, type FeedSource } from './feed-view.js';

/** The newest state of a key. */
interface Change<T> {
  readonly sequence: number;
  readonly state: T;
  /** The newest published state of the key, while this one is not published yet. */
  published: Change<T> | undefined;
}

export interface ChangeFeedOptions<T> {
  readonly clock: Clock;
  /** The bytes of a batch; `position` is where its reader continues. Called once for all readers of a batch. */
  readonly serialize: (states: readonly T[], position: number) => Buffer;
  /**
   * Shortest time between two batches while changes go on. The first change after a quiet period of this length is
   * published immediately.
   */
  readonly intervalMs?: number;
  /** The same between the first two batches after a quiet period. It doubles with each batch, up to the interval. */
  readonly firstIntervalMs?: number;
  /** How many keys are kept for readers that fall behind or reconnect. */
  readonly maxKeys?: number;
}

/** A person does not notice a quarter of a second in a list, and each batch costs one write per reader. */
const INTERVAL_MS = 250;
/** What one action causes comes in a few steps, and each of them is seen at once. */
const FIRST_INTERVAL_MS = 40;
const MAX_KEYS = 20_000;

/**
 * Distributes changes to many readers. A batch contains only the latest state of each key, is serialized once, and only
 * when a reader reads it. A reader is a position, not a buffer: a slow one skips intermediate states and costs no
 * memory.
 */
export class ChangeFeed<T> implements FeedSource<T> {
  private readonly options: Required<Omit<ChangeFeedOptions<T>, 'serialize'>>;
  private readonly whole: FeedView<T>;
  /** The newest state of each key, ordered by sequence. */
  private readonly latest = new Map<string, Change<T>>();
  /** The changes of the last published interval, for the readers that keep up. */
  private recent: readonly Change<T>[] = [];
  private pending = new Map<string, Change<T>>();
  private sequence = 0;
  /** The oldest position from which every later change is still known. */
  private oldest = 0;
  private published = 0;
  private publishedBefore = 0;
  private lastPublishedMs = Number.NEGATIVE_INFINITY;
  private frameMs = 0;
  private cancelTimer: (() => void) | undefined;
  private readonly listeners = new Set<() => void>();

  constructor({
    clock,
    serialize,
    intervalMs = INTERVAL_MS,
    firstIntervalMs = FIRST_INTERVAL_MS,
    maxKeys = MAX_KEYS,
  }: ChangeFeedOptions<T>) {
    this.options = { clock, intervalMs, firstIntervalMs: Math.min(firstIntervalMs, intervalMs), maxKeys };
    this.whole = new FeedView(this, serialize);
  }

  /** The position of the last published change. */
  get position(): number {
    return this.published;
  }

  /** Adds the new state of `key`; it replaces earlier states that a reader has not received yet. */
  push(key: string, state: T): void {
    const before = this.latest.get(key);
    const change: Change<T> = {
      sequence: ++this.sequence,
      state,
      published: before && before.sequence <= this.published ? before : before?.published,
    };
    // A key that moves to the end of a map keeps it ordered by sequence.
    if (before) {
      this.latest.delete(key);
      this.pending.delete(key);
    }
    this.latest.set(key, change);
    this.pending.set(key, change);
    if (this.latest.size > this.options.maxKeys) this.dropOldest();
    this.schedule();
  }

  /** Calls back whenever changes are published, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * The changes after a position, up to the last published one.
   * @returns undefined when there is nothing new, or `expired` when changes after that position are no longer known
   */
  since(position: number): FeedBatch | 'expired' | undefined {
    return this.whole.since(position);
  }

  /** The same as states, for a view of the feed. */
  statesSince(position: number): readonly T[] | 'expired' | undefined {
    if (position < this.oldest || position > this.published) return 'expired';
    if (position === this.published) return undefined;
    return position === this.publishedBefore ? this.recent.map(({ state }) => state) : this.statesAfter(position);
  }

  close(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.listeners.clear();
  }

  private schedule(): void {
    if (this.cancelTimer) return;
    const { clock, intervalMs } = this.options;
    const elapsedMs = Math.max(0, clock.now() - this.lastPublishedMs);
    if (elapsedMs >= intervalMs) this.frameMs = 0;
    // Changes that occur together, such as a list, belong into one batch even at the start of a quiet period.
    this.cancelTimer = clock.after(Math.max(0, this.frameMs - elapsedMs), () => {
      this.cancelTimer = undefined;
      this.publish();
    });
  }

  private publish(): void {
    const { clock, intervalMs, firstIntervalMs } = this.options;
    this.lastPublishedMs = clock.now();
    this.frameMs = this.frameMs === 0 ? firstIntervalMs : Math.min(intervalMs, this.frameMs * 2);
    this.publishedBefore = this.published;
    this.published = this.sequence;
    this.recent = [...this.pending.values()];
    this.pending = new Map();
    for (const change of this.recent) change.published = undefined;
    for (const listener of [...this.listeners]) listener();
  }

  /** The published states after a position. A key that has changed again since then has its published state here. */
  private statesAfter(position: number): T[] {
    const states: T[] = [];
    for (const newest of this.latest.values()) {
      const change = newest.sequence <= this.published ? newest : newest.published;
      if (change && change.sequence > position) states.push(change.state);
    }
    return states;
  }

  private dropOldest(): void {
    const [first] = this.latest;
    if (!first) return;
    const [key, { sequence }] = first;
    this.latest.delete(key);
    this.oldest = Math.max(this.oldest, sequence);
  }
}
