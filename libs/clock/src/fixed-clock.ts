import { Clock } from './clock.js';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that only moves when a test advances it. Timers run in the order of their due times. */
export class FixedClock extends Clock {
  private readonly timers = new Set<Timer>();

  /** @param time milliseconds since the epoch */
  constructor(private time = Date.UTC(2026, 0, 1)) {
    super();
  }

  override now(): number {
    return this.time;
  }

  override after(ms: number, callback: () => void): () => void {
    const timer = { at: this.time + ms, callback };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.timers.size;
  }

  /** Advances the time by `ms` milliseconds and runs the timers that become due. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (let next = this.nextDue(end); next; next = this.nextDue(end)) {
      this.timers.delete(next);
      this.time = next.at;
      next.callback();
    }
    this.time = end;
  }

  private nextDue(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.timers) if (timer.at <= end && (!next || timer.at < next.at)) next = timer;
    return next;
  }
}
