import { MOST_COUNTED } from './slot.js';

/** At most `limit` events in each window of `windowMs`, anchored at the first event that counts. */
export interface RateTerms {
  readonly limit: number;
  readonly windowMs: number;
}

/** The longest window: 24 days. */
export const LONGEST_WINDOW_MS = 2 ** 31 - 1;
export const HIGHEST_LIMIT = MOST_COUNTED;

/** A rate under its name. Made by `RateWindows.define`; its terms change when the name is defined again. */
export interface Rate extends RateTerms {
  readonly name: string;
}

/** One event that asks to count for one key of a rate. */
export interface Claim {
  readonly rate: Rate;
  readonly key: string;
}

/** The refusal of a rate: which one refused, and in how many whole milliseconds (at least 1) its window closes. */
export interface RateRefusal {
  readonly granted: false;
  readonly rate: string;
  readonly limit: number;
  readonly retryAfterMs: number;
}

/**
 * Room taken on several keys while something is in flight. The first of the three ends it; a later one does nothing, so
 * that `finally { reservation.release() }` is always right.
 */
export interface Reservation {
  readonly granted: true;
  /** The events happened: they count, from when they were reserved. */
  keep(): void | Promise<void>;
  /** The caller proved itself: what these keys counted before is wiped, and this does not count. */
  forget(): void | Promise<void>;
  /** Nothing came of it: as if it had never been asked. */
  release(): void | Promise<void>;
}

/** What one key's window holds, for people who look at it. */
export interface WindowView {
  readonly counted: number;
  readonly inFlight: number;
  readonly limit: number;
  /** 0 when no window is open. */
  readonly closesInMs: number;
  /** The key shares a coarse bucket with others, because the table was full of keys at their limit. */
  readonly shared: boolean;
}

/** @throws RangeError naming the rate and what is wrong with its terms. */
export function checkTerms(name: string, { limit, windowMs }: RateTerms): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > HIGHEST_LIMIT) {
    throw new RangeError(`${name}: the limit must be a whole number from 1 to ${HIGHEST_LIMIT}, not ${limit}.`);
  }
  if (!Number.isInteger(windowMs) || windowMs < 1 || windowMs > LONGEST_WINDOW_MS) {
    throw new RangeError(`${name}: the window must be 1 to ${LONGEST_WINDOW_MS} whole milliseconds, not ${windowMs}.`);
  }
}
