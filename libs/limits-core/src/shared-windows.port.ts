import type { Claim, Rate, RateRefusal, Reservation, WindowView } from './rate.js';

/**
 * Windows on a server that several nodes share, with the same rules as `RateWindows`. Every method rejects when the
 * server can't be reached or does not answer in time; it never waits long.
 */
export abstract class SharedWindows {
  abstract count(rate: Rate, key: string): Promise<RateRefusal | undefined>;
  abstract reserve(claims: readonly Claim[]): Promise<Reservation | RateRefusal>;
  abstract peek(rate: Rate, key: string): Promise<WindowView>;
  abstract forgive(rate: Rate, key: string): Promise<boolean>;
}
