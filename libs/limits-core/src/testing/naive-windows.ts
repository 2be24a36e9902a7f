interface Event {
  readonly at: number;
  state: 'in flight' | 'counted' | 'gone';
}

interface Window {
  readonly events: Event[];
  /** When it closes as long as nothing counts. */
  undecided: number;
}

/**
 * The rules of a window, written to be read rather than fast: an event belongs to a window until it is gone; the window
 * closes `windowMs` after its earliest counted event or, while none counts, after the last time that became so.
 */
export class NaiveWindows {
  readonly #windows = new Map<string, Window>();
  readonly #limit: number;
  readonly #windowMs: number;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** 0: reserved; otherwise the milliseconds until the window closes. */
  wait(key: string, now: number): number {
    const window = this.#open(key, now);
    return window && alive(window).length >= this.#limit ? this.#closes(window) - now : 0;
  }

  reserve(key: string, now: number): { window: Window; event: Event } {
    let window = this.#open(key, now);
    if (!window) this.#windows.set(key, (window = { events: [], undecided: 0 }));
    const event: Event = { at: now, state: 'in flight' };
    window.events.push(event);
    window.undecided = now + this.#windowMs;
    return { window, event };
  }

  settle(
    key: string,
    { window, event }: { window: Window; event: Event },
    outcome: 'keep' | 'forget' | 'release',
    now: number,
  ): void {
    if (this.#open(key, now) !== window) return;
    event.state = outcome === 'keep' ? 'counted' : 'gone';
    if (outcome === 'forget') {
      for (const other of window.events) if (other.state === 'counted') other.state = 'gone';
      window.undecided = now + this.#windowMs;
    }
    if (alive(window).length === 0) this.#windows.delete(key);
  }

  counts(key: string, now: number): { counted: number; inFlight: number } {
    const events = this.#open(key, now)?.events ?? [];
    const number = (state: Event['state']) => events.filter((event) => event.state === state).length;
    return { counted: number('counted'), inFlight: number('in flight') };
  }

  #open(key: string, now: number): Window | undefined {
    const window = this.#windows.get(key);
    if (!window) return undefined;
    if (this.#closes(window) > now) return window;
    this.#windows.delete(key);
    return undefined;
  }

  #closes(window: Window): number {
    const counted = window.events.filter((event) => event.state === 'counted').map((event) => event.at);
    return counted.length > 0 ? this.#windowMs + Math.min(...counted) : window.undecided;
  }
}

const alive = (window: Window): Event[] => window.events.filter((event) => event.state !== 'gone');
