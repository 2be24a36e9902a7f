/**
 * Milliseconds that only increase, from any origin. Never the wall clock: a window must not follow clock adjustments.
 */
export abstract class Clock {
  abstract now(): number;
}

/** The process's monotonic clock, read on each call. */
export class MonotonicClock extends Clock {
  override now(): number {
    return performance.now();
  }
}

/** A clock that only moves when it is advanced, for tests here and in code that uses these limiters. */
export class ManualClock extends Clock {
  private nowMs: number;

  constructor(startMs = 0) {
    super();
    this.nowMs = startMs;
  }

  override now(): number {
    return this.nowMs;
  }

  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError('A monotonic clock only moves forward.');
    this.nowMs += ms;
  }
}
