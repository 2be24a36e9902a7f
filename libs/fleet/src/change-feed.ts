import type { Clock } from '@headgate/domain-contracts';

/** The newest state of a key. */
interface Change<T> {
  readonly sequence: number;
  readonly state: T;
  /** The newest published state of the key, while this one is not published yet. */
  published: Change<T> | undefined;
}

/** Bytes for one reader, and the position to continue from. */
export interface FeedBatch {
  readonly bytes: Buffer;
  readonly position: number;
}

export interface ChangeFeedOptions<T> {
  readonly clock: Clock;
  /** The bytes of a batch; `position` is where its reader continues. Called once for all readers of a batch. */
  readonly serialize: (states: readonly T[], position: number) => Buffer;
  /** Shortest time between two batches. The first change after a quiet period is published immediately. */
  readonly intervalMs?: number;
  /** How many keys are kept for readers that fall behind or reconnect. */
  readonly maxKeys?: number;
}

/** A person does not notice a quarter of a second in a list, and each batch costs one write per reader. */
const INTERVAL_MS = 250;
const MAX_KEYS = 20_000;
/** Readers that keep up share one position; a few slow ones share a few more. */
const MAX_BATCHES = 8;

/**
 * Distributes changes to many readers. A batch contains only the latest state of each key, is serialized once, and only
 * when a reader reads it. A reader is a position, not a buffer: a slow one skips intermediate states and costs no
 * memory.
 */
export class ChangeFeed<T> {
  private readonly options: Required<ChangeFeedOptions<T>>;
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
  private cancelTimer: (() => void) | undefined;
  /** Batches since the last publication, by the position of their readers. */
  private readonly batches = new Map<number, FeedBatch>();
  private readonly listeners = new Set<() => void>();

  constructor({ clock, serialize, intervalMs = INTERVAL_MS, maxKeys = MAX_KEYS }: ChangeFeedOptions<T>) {
    this.options = { clock, serialize, intervalMs, maxKeys };
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
    if (position < this.oldest || position > this.published) return 'expired';
    if (position === this.published) return undefined;
    const known = this.batches.get(position);
    if (known) return known;
    const states =
      position === this.publishedBefore ? this.recent.map(({ state }) => state) : this.statesAfter(position);
    const batch = { position: this.published, bytes: this.options.serialize(states, this.published) };
    if (this.batches.size < MAX_BATCHES) this.batches.set(position, batch);
    return batch;
  }

  close(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.listeners.clear();
  }

  private schedule(): void {
    if (this.cancelTimer) return;
    const { clock, intervalMs } = this.options;
    const elapsedMs = clock.now() - this.lastPublishedMs;
    // Changes that occur together, such as a list, belong into one batch even at the start of a quiet period.
    const delayMs = elapsedMs >= intervalMs ? 0 : intervalMs - Math.max(0, elapsedMs);
    this.cancelTimer = clock.after(delayMs, () => {
      this.cancelTimer = undefined;
      this.publish();
    });
  }

  private publish(): void {
    this.lastPublishedMs = this.options.clock.now();
    this.publishedBefore = this.published;
    this.published = this.sequence;
    this.recent = [...this.pending.values()];
    this.pending = new Map();
    for (const change of this.recent) change.published = undefined;
    this.batches.clear();
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
