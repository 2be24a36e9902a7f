import { MAX_COUNTED } from './slot.js';

/**
 * How events are limited. `fixed-window`: at most `limit` events in each window, which starts with the first event that
 * counts. `gcra` (the generic cell rate algorithm, a token bucket): bursts of at most `limit` events, and room for one
 * more every `windowMs / limit`.
 */
export type RateAlgorithm = 'fixed-window' | 'gcra';

/** At most `limit` events in each window of `windowMs`. */
export interface RateOptions {
  readonly limit: number;
  readonly windowMs: number;
  /** `fixed-window` by default. Changing it starts all windows of the rate again. */
  readonly algorithm?: RateAlgorithm;
}

/** The longest window: 400 days. */
export const MAX_WINDOW_MS = 400 * 24 * 60 * 60 * 1000;
/** The highest limit of a rate. */
export const MAX_LIMIT = MAX_COUNTED;
/** The fastest `gcra` rate: its times have a resolution of 1/65,536 ms. */
const MAX_GCRA_EVENTS_PER_MS = 100;

/** A named rate, created by `define`. Its options change when the name is defined again. */
export interface Rate extends RateOptions {
  readonly name: string;
  readonly algorithm: RateAlgorithm;
}

/** One key of a rate: what an event counts for. */
export interface RateKey {
  readonly rate: Rate;
  readonly key: string;
  /** Overrides the rate's limit for this event. */
  readonly limit?: number;
  /**
   * How much of the limit the event takes: a whole number, 1 by default. One that costs more than the limit takes all
   * of it.
   */
  readonly cost?: number;
}

/** One key of an event that counts immediately. */
export interface CountedKey extends RateKey {
  /** Overrides the rate's window, if this event opens one. */
  readonly windowMs?: number;
}

/** A refusal: the rate that refused, and the whole milliseconds (at least 1) until its window closes. */
export interface RateRefusal {
  readonly granted: false;
  readonly rate: string;
  readonly limit: number;
  readonly retryAfterMs: number;
}

/**
 * One event reserved under several keys while its outcome is unknown. The first call of the three settles it and later
 * calls do nothing, so `finally { reservation.release() }` is always safe.
 */
export interface Reservation {
  readonly granted: true;
  /** The event counts, from the time it was reserved. */
  commit(): void | Promise<void>;
  /**
   * Clears the history of these keys; this event does not count. For a caller that has proved itself, such as a correct
   * password.
   */
  reset(): void | Promise<void>;
  /** The event does not count, as if it had never been reserved. */
  release(): void | Promise<void>;
}

/** The state of one key's window, for diagnostics. */
export interface WindowState {
  readonly counted: number;
  readonly inFlight: number;
  readonly limit: number;
  /** When nothing counts any more, in ms; 0 when no window is open. */
  readonly closesInMs: number;
  /** The key shares a coarse bucket with others, because the table was full of keys at their limit. */
  readonly shared: boolean;
}

/** @throws RangeError naming the rate and the invalid option. */
export function checkRateOptions(name: string, { limit, windowMs, algorithm = 'fixed-window' }: RateOptions): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new RangeError(`${name}: the limit must be a whole number from 1 to ${MAX_LIMIT}, not ${limit}.`);
  }
  if (!Number.isInteger(windowMs) || windowMs < 1 || windowMs > MAX_WINDOW_MS) {
    throw new RangeError(`${name}: the window must be 1 to ${MAX_WINDOW_MS} whole milliseconds, not ${windowMs}.`);
  }
  if (algorithm === 'gcra' && limit > windowMs * MAX_GCRA_EVENTS_PER_MS) {
    throw new RangeError(`${name}: a gcra rate allows at most ${MAX_GCRA_EVENTS_PER_MS} events per millisecond.`);
  }
}

/** @throws RangeError when a cost or a window is not a whole number of at least 1. */
export function checkCountedKey({ rate, cost = 1, windowMs = 1 }: CountedKey): void {
  if (!Number.isInteger(cost) || cost < 1) {
    throw new RangeError(`${rate.name}: the cost must be a whole number of at least 1, not ${cost}.`);
  }
  if (!Number.isInteger(windowMs) || windowMs < 1 || windowMs > MAX_WINDOW_MS) {
    throw new RangeError(`${rate.name}: the window must be 1 to ${MAX_WINDOW_MS} whole milliseconds, not ${windowMs}.`);
  }
}
