import type { Clock } from '@headgate/domain-contracts';

/** `copy` and `compare` are counted in bytes, of one end, and `open` in disks that were opened. */
export type Work = 'copy' | 'compare' | 'open';

interface Measured {
  readonly amount: number;
  readonly ms: number;
}

/** What a move has measured of its own work, as JSON. */
export type Pace = Readonly<Record<Work, Measured>>;

/** The work that is left when the guest is stopped. */
export interface RestOfMove {
  readonly disks: number;
  /** How much has to be copied. */
  readonly copiedBytes: number;
  /** How much of both ends has to be compared. */
  readonly comparedBytes: number;
  /** The size of the disks that have to be compared as a whole, to find what has to be copied, and then once more. */
  readonly wholeBytes: number;
}

const MIB = 1024 ** 2;
/** The speeds of a slow disk, and of a busy machine. */
const ASSUMED: Readonly<Record<Work, number>> = { copy: 60 * MIB, compare: 120 * MIB, open: 5 };
/** Less than this says nothing. */
const MIN_AMOUNT: Readonly<Record<Work, number>> = { copy: MIB, compare: MIB, open: 1 };
const MIN_MEASURED_MS = 5;
/** A disk is opened at both ends, for the copy and for the comparison. */
const OPENINGS = 4;
/** To complete the new VM, and to write the journal. */
const COMMIT_SECONDS = 0.3;

const NOTHING: Pace = { copy: { amount: 0, ms: 0 }, compare: { amount: 0, ms: 0 }, open: { amount: 0, ms: 0 } };

/** Measures the work of a warm move while its guest runs, to promise how long the rest of it will take. */
export class PaceMeter {
  private measured: Pace;

  /** @param earlier of an earlier step, from the journal */
  constructor(
    private readonly clock: Clock,
    earlier?: Pace,
  ) {
    this.measured = earlier ?? NOTHING;
  }

  get pace(): Pace {
    return this.measured;
  }

  /** @param amountOf how much was done, from the result */
  async measure<T>(work: Work, run: () => Promise<T>, amountOf: (result: T) => number): Promise<T> {
    const begunAtMs = this.clock.now();
    const result = await run();
    const { amount, ms } = this.measured[work];
    this.measured = {
      ...this.measured,
      [work]: { amount: amount + amountOf(result), ms: ms + this.clock.now() - begunAtMs },
    };
    return result;
  }

  secondsFor({ disks, copiedBytes, comparedBytes, wholeBytes }: RestOfMove): number {
    // Both ends are hashed when blocks are compared. A guest that shuts down always writes something, so that all disks
    // are opened.
    return (
      COMMIT_SECONDS +
      this.seconds('open', disks * OPENINGS) +
      this.seconds('copy', copiedBytes) +
      this.seconds('compare', 2 * (comparedBytes + 2 * wholeBytes))
    );
  }

  private seconds(work: Work, amount: number): number {
    const { amount: done, ms } = this.measured[work];
    const perSecond = done >= MIN_AMOUNT[work] && ms >= MIN_MEASURED_MS ? (done * 1000) / ms : ASSUMED[work];
    return amount / perSecond;
  }
}
