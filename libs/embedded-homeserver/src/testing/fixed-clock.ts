import { WallClock } from '../clock.js';

/** A clock that stands still until a test moves it. */
export class FixedClock extends WallClock {
  constructor(public ms = 1_000_000) {
    super();
  }

  override now(): number {
    return this.ms;
  }
}
