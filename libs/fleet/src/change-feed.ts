import type { Clock } from '@headgate/domain-contracts';

/** One entry of the feed: the latest state of a key, already serialized. */
interface Change {
  readonly sequence: number;
  readonly key: string;
  readonly bytes: Buffer;
}

/** Bytes for one reader, and the position to continue from. */
export interface FeedBatch {
  readonly bytes: Buffer;
  readonly position: number;
}

export interface ChangeFeedOptions {
  readonly clock: Clock;
  /** Shortest time between two batches. The first change after a quiet period is published at once. */
  readonly intervalMs?: number;
  /** How many changes are kept for readers that fall behind or reconnect. */
  readonly maxChanges?: number;
  /** Ends each batch, for example with the position that a reader can resume from. */
  readonly finish?: (position: number) => Buffer;
}

/** A person does not notice a quarter of a second in a list, and each batch costs one write per reader. */
const INTERVAL_MS = 250;
const MAX_CHANGES = 20_000;
/** Readers that keep up share one position; a few slow ones share a few more. */
const MAX_BATCHES = 8;
const EMPTY = Buffer.alloc(0);

/**
 * Distributes changes to many readers. Each change is serialized once, by the caller. A batch contains only the latest state of
 * each key, and readers at the same position share its bytes. A reader is a position, not a buffer: a slow one skips
 * intermediate states and costs no memory.
 */
export class ChangeFeed {
  private readonly options: Required<ChangeFeedOptions>;
  /** The kept changes in order; superseded ones are removed when the log is compacted. */
  private log: Change[] = [];
  private readonly latest = new Map<string, number>();
  private sequence = 0;
  /** The oldest position from which every later change is still known. */
  private oldest = 0;
  private published = 0;
  private lastPublishedMs = Number.NEGATIVE_INFINITY;
  private cancelTimer: (() => void) | undefined;
  /** Batches since the last publication, by the position of their readers. */
  private readonly batches = new Map<number, FeedBatch>();
  private readonly listeners = new Set<() => void>();

  constructor({ clock, intervalMs = INTERVAL_MS, maxChanges = MAX_CHANGES, finish = () => EMPTY }: ChangeFeedOptions) {
    this.options = { clock, intervalMs, maxChanges, finish };
  }

  /** The position of the last published change. */
  get position(): number {
    return this.published;
  }

  /** Adds the new state of `key`; it replaces earlier states that a reader has not received yet. */
  push(key: string, bytes: Buffer): void {
    const change = { sequence: ++this.sequence, key, bytes };
    this.log.push(change);
    // A key that moves to the end of the map keeps it ordered by sequence.
    this.latest.delete(key);
    this.latest.set(key, change.sequence);
    if (this.log.length > this.options.maxChanges * 2) this.compact();
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
    const parts: Buffer[] = [];
    for (let index = this.indexAfter(position); index < this.log.length; index++) {
      const { sequence, key, bytes } = this.log[index]!;
      if (sequence > this.published) break;
      if (this.isLatestPublished(key, sequence)) parts.push(bytes);
    }
    parts.push(this.options.finish(this.published));
    const batch = { position: this.published, bytes: Buffer.concat(parts) };
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
    this.published = this.sequence;
    this.batches.clear();
    for (const listener of [...this.listeners]) listener();
  }

  /** Publishing happens for all pending changes at once, so a newer state is either published too or comes later anyway. */
  private isLatestPublished(key: string, sequence: number): boolean {
    const newest = this.latest.get(key) ?? 0;
    return newest === sequence || newest > this.published;
  }

  /** Removes superseded changes, then the oldest ones beyond the limit. */
  private compact(): void {
    const kept = this.log.filter(({ key, sequence }) => this.latest.get(key) === sequence);
    const removed = kept.splice(0, Math.max(0, kept.length - this.options.maxChanges));
    for (const { key } of removed) this.latest.delete(key);
    const last = removed.at(-1);
    if (last) this.oldest = Math.max(this.oldest, last.sequence);
    this.log = kept;
  }

  private indexAfter(position: number): number {
    let low = 0;
    let high = this.log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.log[middle]!.sequence <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
