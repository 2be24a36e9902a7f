import { TimerHeap } from './timer-heap.js';

/** Cancels a scheduled callback; calling it late or twice has no effect. */
export type Cancel = () => void;

/** The only source of time in the sandbox, so that a test can control it. */
export abstract class SandboxClock {
  /** The last timestamp: the same second is formatted many times. */
  private formatted = { second: NaN, text: '' };

  /** Milliseconds since 1970. */
  abstract now(): number;

  /** Runs the callback once, `delayMs` milliseconds from now, never within this call. */
  abstract schedule(callback: () => void, delayMs: number): Cancel;

  /** Cancels all scheduled callbacks. */
  abstract stop(): void;

  /** The current time in the format of object metadata: RFC 3339, whole seconds, UTC. */
  timestamp(offsetMs = 0): string {
    const second = Math.floor((this.now() + offsetMs) / 1000);
    if (second !== this.formatted.second) {
      this.formatted = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
    }
    return this.formatted.text;
  }

  /** The current time in the format of `metav1.MicroTime`. */
  microTimestamp(): string {
    return `${new Date(this.now()).toISOString().slice(0, 23)}000Z`;
  }

  /** Runs the callback every `periodMs` milliseconds until it is canceled. */
  repeat(callback: () => void, periodMs: number): Cancel {
    let cancel: Cancel = () => undefined;
    const arm = (): void => {
      cancel = this.schedule(() => {
        arm();
        callback();
      }, periodMs);
    };
    arm();
    return () => cancel();
  }
}

/** Node fires timers with a longer delay immediately. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The system clock. Its timers do not keep the process alive. */
export class RealClock extends SandboxClock {
  private readonly timers = new Set<NodeJS.Timeout>();

  now(): number {
    return Date.now();
  }

  schedule(callback: () => void, delayMs: number): Cancel {
    let cancel: Cancel = () => undefined;
    const wait = (remainingMs: number): void => {
      const partMs = Math.min(remainingMs, MAX_TIMEOUT_MS);
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        if (remainingMs > partMs) wait(remainingMs - partMs);
        else callback();
      }, partMs).unref();
      this.timers.add(timer);
      cancel = () => {
        clearTimeout(timer);
        this.timers.delete(timer);
      };
    };
    wait(delayMs);
    return () => cancel();
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }
}

/** A clock that is ahead of another one by the offset, or behind it. Periods take as long as with the other one. */
export class SkewedClock extends SandboxClock {
  /** @param offsetMs may change at any time, as when the clock of a machine is set */
  constructor(
    private readonly inner: SandboxClock,
    public offsetMs: number,
  ) {
    super();
  }

  now(): number {
    return this.inner.now() + this.offsetMs;
  }

  schedule(callback: () => void, delayMs: number): Cancel {
    return this.inner.schedule(callback, delayMs);
  }

  stop(): void {
    this.inner.stop();
  }
}

/** More than ten thousand objects that are created at the same moment need. */
const MAX_CALLBACKS_PER_MOMENT = 250_000;

/** A clock that only moves when a test advances it. */
export class ManualClock extends SandboxClock {
  private readonly timers = new TimerHeap();

  constructor(private time = Date.UTC(2026, 0, 1)) {
    super();
  }

  now(): number {
    return this.time;
  }

  schedule(callback: () => void, delayMs: number): Cancel {
    return this.timers.add(this.time + Math.max(0, delayMs), callback);
  }

  /**
   * Advances the time and runs the due callbacks in order, including those that they schedule within the span.
   * @throws Error when callbacks schedule others for the same moment without end, as controllers do that undo each
   *   other's work
   */
  advance(ms: number): void {
    for (const callback of this.steps(ms)) callback();
  }

  /**
   * The due callbacks of a span in order, for callers that let other work happen between them. Each is run by the
   * caller before the next one is taken; the time is that of the callback.
   * @throws Error as `advance` does
   */
  *steps(ms: number): Generator<() => void, void> {
    const end = this.time + ms;
    let callbacks = 0;
    for (let due = this.timers.takeDue(end); due; due = this.timers.takeDue(end)) {
      callbacks = due.at > this.time ? 0 : callbacks + 1;
      if (callbacks > MAX_CALLBACKS_PER_MOMENT)
        throw new Error(`More than ${MAX_CALLBACKS_PER_MOMENT} callbacks ran without any time passing.`);
      this.time = Math.max(this.time, due.at);
      yield due.callback;
    }
    this.time = end;
  }

  /** Milliseconds until the next callback is due; undefined when nothing is scheduled. */
  untilNext(): number | undefined {
    const next = this.timers.peek();
    return next && next.at - this.time;
  }

  stop(): void {
    this.timers.clear();
  }
}
