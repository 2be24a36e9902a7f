import type { Clock } from '@headgate/domain-contracts';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;

/** Attempts of the same, with growing pauses. */
export class Attempts {
  /** Since the last success. */
  count = 0;
  private nextMs = 0;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  get isDue(): boolean {
    return this.clock.now() >= this.nextMs;
  }

  begun(): void {
    this.nextMs = this.clock.now() + Math.min(FIRST_PAUSE_MS * 2 ** this.count, MAX_PAUSE_MS);
    this.count += 1;
  }

  succeeded(): void {
    this.count = 0;
    this.nextMs = 0;
  }
}
