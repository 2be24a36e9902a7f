import type { CountedKey, Rate, RateKey, RateOptions, RateRefusal, Reservation, WindowState } from './rate.js';

/**
 * Counts events under rates: in this process (`MemoryRateLimiter`), or together with other nodes
 * (`FallbackRateLimiter`).
 */
export abstract class RateLimiter {
  /** Creates the rate, or changes the options of an existing one. @throws RangeError when the options are invalid. */
  abstract define(name: string, options: RateOptions): Rate;

  /**
   * Counts one event now. Returns the refusal, or undefined if the event was counted.
   * @param limit overrides the rate's limit for this event
   */
  abstract count(rate: Rate, key: string, limit?: number): RateRefusal | undefined | Promise<RateRefusal | undefined>;

  /**
   * Counts one event now, under every key or under none, with the cost of each key. If several keys refuse, returns the
   * refusal that lasts longest; undefined if the event was counted.
   */
  abstract countAll(keys: readonly CountedKey[]): RateRefusal | undefined | Promise<RateRefusal | undefined>;

  /**
   * Reserves one event under every key or under none, with the cost of each key. If several keys refuse, returns the
   * one whose window closes last.
   */
  abstract reserve(keys: readonly RateKey[]): Reservation | RateRefusal | Promise<Reservation | RateRefusal>;

  abstract peek(rate: Rate, key: string): WindowState | Promise<WindowState>;

  /** Deletes a key's window, including its reservations. Returns false if there was none. */
  abstract reset(rate: Rate, key: string): boolean | Promise<boolean>;
}

/**
 * A limiter on a server that several nodes share, with the same rules as `MemoryRateLimiter`. Every method rejects if
 * the server can't be reached or does not answer in time; none waits long.
 */
export abstract class SharedRateLimiter {
  abstract count(rate: Rate, key: string, limit?: number): Promise<RateRefusal | undefined>;
  abstract countAll(keys: readonly CountedKey[]): Promise<RateRefusal | undefined>;
  abstract reserve(keys: readonly RateKey[]): Promise<Reservation | RateRefusal>;
  abstract peek(rate: Rate, key: string): Promise<WindowState>;
  abstract reset(rate: Rate, key: string): Promise<boolean>;
}
