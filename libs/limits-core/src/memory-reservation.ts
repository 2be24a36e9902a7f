import type { RateKey, Reservation } from './rate.js';

/** One reserved key. `generation` distinguishes the window it was reserved in from a later one of the same key. */
export interface ReservedKey {
  readonly rateKey: RateKey;
  readonly generation: number;
  /** What it took from the limit, which may change before it is settled. */
  readonly price: number;
  readonly shared: boolean;
}

export type Settlement = 'commit' | 'reset' | 'release';

type Settle = (key: ReservedKey, settlement: Settlement, reservedAt: number) => void;

export class MemoryReservation implements Reservation {
  readonly granted = true;
  private readonly keys: readonly ReservedKey[];
  private readonly reservedAt: number;
  private readonly settleKey: Settle;
  private open = true;

  constructor(keys: readonly ReservedKey[], reservedAt: number, settleKey: Settle) {
    this.keys = keys;
    this.reservedAt = reservedAt;
    this.settleKey = settleKey;
  }

  commit(): void {
    this.settle('commit');
  }

  reset(): void {
    this.settle('reset');
  }

  release(): void {
    this.settle('release');
  }

  private settle(settlement: Settlement): void {
    if (!this.open) return;
    this.open = false;
    for (const key of this.keys) this.settleKey(key, settlement, this.reservedAt);
  }
}
