import type { Timers } from '../timers.js';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Timers that only run when the test advances them. */
export class ManualTimers implements Timers {
  private now = 0;
  private readonly timers = new Set<Timer>();

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.now + ms, callback };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  get pending(): number {
    return this.timers.size;
  }

  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [next] = [...this.timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.timers.delete(next);
      this.now = next.at;
      next.callback();
    }
    this.now = end;
  }
}

/** Lets everything run that is ready. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
};
