import { MatrixError } from '@headgate/matrix-protocol';

/** The part of the budget that one body holds. */
export interface BufferedBody {
  /** Adds to the held bytes. The body may be refused by this call, or by the growth of another body. */
  grow(bytes: number): void;
  /** All of the body has arrived: from now on it is not refused. */
  complete(): void;
  /** The body is no longer in memory. May be called repeatedly. */
  release(): void;
}

interface Entry {
  bytes: number;
  readonly startedAt: number;
  readonly refuse: (error: MatrixError) => void;
}

export const DEFAULT_BODY_BUDGET_BYTES = 64 * 1024 * 1024;

/**
 * The memory that all buffered bodies share. When it is exhausted, unfinished bodies are refused, those first that have
 * held the most bytes for the longest time: a slow sender cannot take the memory of the others.
 */
export class BodyBudget {
  private readonly unfinished = new Set<Entry>();
  private used = 0;
  private refusals = 0;

  constructor(
    private readonly maxBytes = DEFAULT_BODY_BUDGET_BYTES,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The bytes of all bodies in memory. */
  get usedBytes(): number {
    return this.used;
  }

  /** The number of bodies refused since the start. */
  get refused(): number {
    return this.refusals;
  }

  /** @param refuse ends the reading of this body with an error */
  open(refuse: (error: MatrixError) => void): BufferedBody {
    const entry: Entry = { bytes: 0, startedAt: this.now(), refuse };
    this.unfinished.add(entry);
    return {
      grow: (bytes) => {
        entry.bytes += bytes;
        this.used += bytes;
        this.makeRoom();
      },
      complete: () => void this.unfinished.delete(entry),
      release: () => this.release(entry),
    };
  }

  private makeRoom(): void {
    while (this.used > this.maxBytes) {
      const victim = this.heaviest();
      if (!victim) return;
      this.refusals++;
      this.release(victim);
      victim.refuse(
        new MatrixError(503, 'M_UNKNOWN', 'The server has too many request bodies in memory. Try again later.'),
      );
    }
  }

  /** The unfinished body with the most bytes times milliseconds. */
  private heaviest(): Entry | undefined {
    const now = this.now();
    let heaviest: Entry | undefined;
    let weight = -1;
    for (const entry of this.unfinished) {
      const own = entry.bytes * (now - entry.startedAt + 1);
      if (own > weight) [heaviest, weight] = [entry, own];
    }
    return heaviest;
  }

  private release(entry: Entry): void {
    this.unfinished.delete(entry);
    this.used -= entry.bytes;
    entry.bytes = 0;
  }
}
