import { WallClock } from '../clock.js';

/** A clock that only a test advances. */
export class FixedClock extends WallClock {
  constructor(public ms = 1_000_000) {
    super();
  }

  override now(): number {
    return this.ms;
  }
}
