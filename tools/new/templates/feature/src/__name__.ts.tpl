import { Clock } from '@headgate/domain-contracts';

/** One sentence: what this promises. */
export class __Name__ {
  constructor(private readonly clock: Clock) {}

  /** Milliseconds since the epoch, from the injected clock: replace with the first real operation. */
  now(): number {
    return this.clock.now();
  }
}
