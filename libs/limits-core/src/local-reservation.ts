import type { Claim, Reservation } from './rate.js';

/** One place taken: enough to tell the window it was taken in from a later one of the same key. */
export interface Hold {
  readonly claim: Claim;
  readonly opening: number;
  readonly shared: boolean;
}

export type Outcome = 'keep' | 'forget' | 'release';

export class LocalReservation implements Reservation {
  readonly granted = true;
  readonly #holds: readonly Hold[];
  readonly #takenAt: number;
  readonly #settle: (hold: Hold, outcome: Outcome, takenAt: number) => void;
  #open = true;

  constructor(
    holds: readonly Hold[],
    takenAt: number,
    settle: (hold: Hold, outcome: Outcome, takenAt: number) => void,
  ) {
    this.#holds = holds;
    this.#takenAt = takenAt;
    this.#settle = settle;
  }

  keep(): void {
    this.#end('keep');
  }

  forget(): void {
    this.#end('forget');
  }

  release(): void {
    this.#end('release');
  }

  #end(outcome: Outcome): void {
    if (!this.#open) return;
    this.#open = false;
    for (const hold of this.#holds) this.#settle(hold, outcome, this.#takenAt);
  }
}
