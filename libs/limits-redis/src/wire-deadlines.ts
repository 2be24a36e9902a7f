import { ServerTimeout } from './server-errors.js';

/** How finely time is measured, as a part of the timeout. */
const TICKS_PER_TIMEOUT = 10;
/** How much of the time between two ticks counts, in ticks. */
const MAX_COUNTED_TICKS = 2;

interface Waiting {
  readonly dueMs: number;
  readonly reject: (error: ServerTimeout) => void;
}

/**
 * Deadlines of the commands on one connection, by time on the wire. While this process is busy, it neither sends
 * commands nor reads answers, so a turn of the event loop counts for two ticks at most, however long it lasts. A
 * deadline expires only after the sockets have been read once more.
 */
export class WireDeadlines {
  private readonly tickMs: number;
  /** In the order of their deadlines, because all timeouts are equal. */
  private readonly waiting = new Set<Waiting>();
  private wireMs = 0;
  private lastTickAt = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly timeoutMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.tickMs = Math.max(1, timeoutMs / TICKS_PER_TIMEOUT);
  }

  /** The answer, or a rejection with ServerTimeout. */
  guard<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    if (this.waiting.size === 0) this.start();
    // The current tick may have begun just before it ends.
    const waiting: Waiting = { dueMs: this.wireMs + this.timeoutMs + this.tickMs, reject };
    this.waiting.add(waiting);
    const settle = <Value>(next: (value: Value) => void) => {
      return (value: Value): void => {
        this.waiting.delete(waiting);
        if (this.waiting.size === 0) clearTimeout(this.timer);
        next(value);
      };
    };
    answer.then(settle(resolve), settle(reject));
    return promise;
  }

  private start(): void {
    this.lastTickAt = this.now();
    this.timer = setTimeout(this.tick, this.tickMs);
  }

  private readonly tick = (): void => {
    const now = this.now();
    this.wireMs += Math.min(now - this.lastTickAt, MAX_COUNTED_TICKS * this.tickMs);
    this.lastTickAt = now;
    // A busy process runs expired timers before it reads its sockets: read what has arrived before giving up.
    setImmediate(this.expire);
  };

  private readonly expire = (): void => {
    for (const waiting of this.waiting) {
      if (waiting.dueMs > this.wireMs) break;
      this.waiting.delete(waiting);
      waiting.reject(new ServerTimeout(this.timeoutMs));
    }
    clearTimeout(this.timer);
    if (this.waiting.size > 0) this.timer = setTimeout(this.tick, this.tickMs);
  };
}
