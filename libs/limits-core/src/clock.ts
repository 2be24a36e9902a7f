/** Milliseconds that only go forward, from any origin. Never the wall clock: a window must not follow a clock that is set. */
export abstract class Clock {
  abstract now(): number;
}

/** The process's monotonic clock, read at each call. */
export class MonotonicClock extends Clock {
  override now(): number {
    return performance.now();
  }
}

/** A clock that stands still until it is moved: for tests, here and in the code of whoever uses these windows. */
export class ManualClock extends Clock {
  #now: number;

  constructor(startMs = 0) {
    super();
    this.#now = startMs;
  }

  override now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError('A monotonic clock goes forward only.');
    this.#now += ms;
  }
}
