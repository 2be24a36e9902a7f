import { MAX_COUNTED } from './slot.js';

/** At most `limit` events in each window of `windowMs`. A window starts with the first event that counts. */
export interface RateOptions {
  readonly limit: number;
  readonly windowMs: number;
}

/** The longest window: 24 days. */
export const MAX_WINDOW_MS = 2 ** 31 - 1;
/** The highest limit of a rate. */
export const MAX_LIMIT = MAX_COUNTED;

/** A named rate, created by `define`. Its limit and window change when the name is defined again. */
export interface Rate extends RateOptions {
  readonly name: string;
}

/** One key of a rate: what an event counts for. */
export interface RateKey {
  readonly rate: Rate;
  readonly key: string;
  /** Overrides the rate's limit for this event. */
  readonly limit?: number;
}

/** A refusal: the rate that refused, and the whole milliseconds (at least 1) until its window closes. */
export interface RateRefusal {
  readonly granted: false;
  readonly rate: string;
  readonly limit: number;
  readonly retryAfterMs: number;
}

/**
 * One event reserved under several keys while its outcome is unknown. The first call of the three settles it and later calls
 * do nothing, so `finally { reservation.release() }` is always safe.
 */
export interface Reservation {
  readonly granted: true;
  /** The event counts, from the time it was reserved. */
  commit(): void | Promise<void>;
  /** Clears the history of these keys; this event does not count. For a caller that has proved itself, such as a correct password. */
  reset(): void | Promise<void>;
  /** The event does not count, as if it had never been reserved. */
  release(): void | Promise<void>;
}

/** The state of one key's window, for diagnostics. */
export interface WindowState {
  readonly counted: number;
  readonly inFlight: number;
  readonly limit: number;
  /** 0 when no window is open. */
  readonly closesInMs: number;
  /** The key shares a coarse bucket with others, because the table was full of keys at their limit. */
  readonly shared: boolean;
}

/** @throws RangeError naming the rate and the invalid option. */
export function checkRateOptions(name: string, { limit, windowMs }: RateOptions): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new RangeError(`${name}: the limit must be a whole number from 1 to ${MAX_LIMIT}, not ${limit}.`);
  }
  if (!Number.isInteger(windowMs) || windowMs < 1 || windowMs > MAX_WINDOW_MS) {
    throw new RangeError(`${name}: the window must be 1 to ${MAX_WINDOW_MS} whole milliseconds, not ${windowMs}.`);
  }
}
