interface Event {
  readonly at: number;
  state: 'in flight' | 'counted' | 'gone';
}

interface Window {
  readonly events: Event[];
  /** When it closes as long as nothing counts. */
  closesIfUncounted: number;
}

interface ReservedEvent {
  readonly window: Window;
  readonly event: Event;
}

/**
 * A reference model of the window rules, written for clarity rather than speed: an event belongs to a window until it
 * is gone; the window closes `windowMs` after its earliest counted event or, while none counts, after the last
 * reservation.
 */
export class ReferenceLimiter {
  private readonly windows = new Map<string, Window>();

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
  ) {}

  /** 0 if there is room, otherwise the milliseconds until the window closes. */
  wait(key: string, now: number): number {
    const window = this.openWindow(key, now);
    return window && remaining(window).length >= this.limit ? this.closesAt(window) - now : 0;
  }

  reserve(key: string, now: number): ReservedEvent {
    let window = this.openWindow(key, now);
    if (!window) this.windows.set(key, (window = { events: [], closesIfUncounted: 0 }));
    const event: Event = { at: now, state: 'in flight' };
    window.events.push(event);
    window.closesIfUncounted = now + this.windowMs;
    return { window, event };
  }

  settle(key: string, { window, event }: ReservedEvent, settlement: 'commit' | 'reset' | 'release', now: number): void {
    if (this.openWindow(key, now) !== window) return;
    event.state = settlement === 'commit' ? 'counted' : 'gone';
    if (settlement === 'reset') {
      for (const other of window.events) if (other.state === 'counted') other.state = 'gone';
      window.closesIfUncounted = now + this.windowMs;
    }
    if (remaining(window).length === 0) this.windows.delete(key);
  }

  counts(key: string, now: number): { counted: number; inFlight: number } {
    const events = this.openWindow(key, now)?.events ?? [];
    const number = (state: Event['state']) => events.filter((event) => event.state === state).length;
    return { counted: number('counted'), inFlight: number('in flight') };
  }

  private openWindow(key: string, now: number): Window | undefined {
    const window = this.windows.get(key);
    if (!window) return undefined;
    if (this.closesAt(window) > now) return window;
    this.windows.delete(key);
    return undefined;
  }

  private closesAt(window: Window): number {
    const counted = window.events.filter((event) => event.state === 'counted').map((event) => event.at);
    return counted.length > 0 ? this.windowMs + Math.min(...counted) : window.closesIfUncounted;
  }
}

const remaining = (window: Window): Event[] => window.events.filter((event) => event.state !== 'gone');
