import { Clock } from '@headgate/domain-contracts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until a test moves it; timers that come due run in their order. */
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

  /** How many timers wait. */
  get pending(): number {
    return this.timers.size;
  }

  /** Moves the time on by `ms` milliseconds, running what comes due. */
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
