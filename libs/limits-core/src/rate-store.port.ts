import type { Claim, Rate, RateRefusal, RateTerms, Reservation, WindowView } from './rate.js';

/** Where windows are kept: in this process (`RateWindows`), or shared by several nodes (`FallbackWindows`). */
export abstract class RateStore {
  /** Makes the rate, or gives the one of that name new terms. @throws RangeError when the terms make no sense. */
  abstract define(name: string, terms: RateTerms): Rate;

  /** Counts one event now. The answer is the refusal; undefined: it was counted. */
  abstract count(rate: Rate, key: string): RateRefusal | undefined | Promise<RateRefusal | undefined>;

  /** Takes room on every claim or on none. When several refuse, the refusal is that of the last to reopen. */
  abstract reserve(claims: readonly Claim[]): Reservation | RateRefusal | Promise<Reservation | RateRefusal>;

  abstract peek(rate: Rate, key: string): WindowView | Promise<WindowView>;

  /** Wipes a key's window, in-flight reservations included. False: there was none. */
  abstract forgive(rate: Rate, key: string): boolean | Promise<boolean>;
}
