/** Bytes for one reader, and the position to continue from. */
export interface FeedBatch {
  readonly bytes: Buffer;
  readonly position: number;
}

/** The part of a ChangeFeed that a view reads. */
export interface FeedSource<T> {
  /** The position of the last published change. */
  readonly position: number;
  statesSince(position: number): readonly T[] | 'expired' | undefined;
  /** Calls back whenever changes are published, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

/** Readers that keep up share one position; a few slow ones share a few more. */
const MAX_BATCHES = 8;

/**
 * The changes of a feed as bytes for readers that want the same of them. Each batch is serialized once, and only when a
 * reader reads it. All views of a feed have the same positions.
 */
export class FeedView<T> {
  /** Batches since the last publication, by the position of their readers. */
  private readonly batches = new Map<number, FeedBatch>();
  private readAt = 0;

  /**
   * @param serialize the bytes of a batch; `position` is where its reader continues
   * @param includes whether a state is in this view; a batch without any has no bytes
   */
  constructor(
    private readonly source: FeedSource<T>,
    private readonly serialize: (states: readonly T[], position: number) => Buffer,
    private readonly includes?: (state: T) => boolean,
  ) {}

  get position(): number {
    return this.source.position;
  }

  subscribe(listener: () => void): () => void {
    return this.source.subscribe(listener);
  }

  /**
   * The changes after a position, up to the last published one.
   * @returns undefined when there is nothing new, or `expired` when changes after that position are no longer known
   */
  since(position: number): FeedBatch | 'expired' | undefined {
    if (this.readAt !== this.position) this.batches.clear();
    this.readAt = this.position;
    const known = this.batches.get(position);
    if (known) return known;
    const all = this.source.statesSince(position);
    if (all === undefined || all === 'expired') return all;
    const states = this.includes ? all.filter(this.includes) : all;
    const bytes = states.length === 0 ? NO_BYTES : this.serialize(states, this.position);
    const batch = { position: this.position, bytes };
    if (this.batches.size < MAX_BATCHES) this.batches.set(position, batch);
    return batch;
  }
}

const NO_BYTES = Buffer.alloc(0);
