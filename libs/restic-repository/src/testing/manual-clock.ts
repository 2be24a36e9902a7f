import type { RepositoryClock } from '../model/types.js';

const SHORT_MS = 1000;

/** A clock that only moves when a test moves it, except that waits of less than a second end at once. */
export class ManualClock implements RepositoryClock {
  private readonly timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  constructor(private time = Date.parse('2026-03-01T12:00:00Z')) {}

  now(): number {
    return this.time;
  }

  after(ms: number, callback: () => void): () => void {
    if (ms < SHORT_MS) {
      queueMicrotask(callback);
      return () => undefined;
    }
    const timer = { at: this.time + ms, callback };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  /** Moves the time and runs the timers that are due. A negative value sets the clock back. */
  advance(ms: number): void {
    this.time += ms;
    for (const timer of [...this.timers].filter(({ at }) => at <= this.time)) {
      if (this.timers.delete(timer)) timer.callback();
    }
  }
}
