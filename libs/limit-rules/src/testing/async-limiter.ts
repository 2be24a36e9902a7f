import {
  type CountedKey,
  type MemoryRateLimiter,
  type Rate,
  type RateKey,
  RateLimiter,
  type RateOptions,
} from '@headgate/limits-core';

/** Windows that respond asynchronously, as those on a server do. */
export class AsyncLimiter extends RateLimiter {
  /** The error of every following call of this method. */
  failing: 'countAll' | 'reserve' | undefined;

  constructor(private readonly windows: MemoryRateLimiter) {
    super();
  }

  override define = (name: string, terms: RateOptions) => this.windows.define(name, terms);
  override count = async (rate: Rate, key: string, limit?: number) => this.windows.count(rate, key, limit);
  override countAll = async (keys: readonly CountedKey[]) => {
    this.failIf('countAll');
    return this.windows.countAll(keys);
  };
  override reserve = async (keys: readonly RateKey[]) => {
    this.failIf('reserve');
    return this.windows.reserve(keys);
  };
  override peek = async (rate: Rate, key: string) => this.windows.peek(rate, key);
  override reset = async (rate: Rate, key: string) => this.windows.reset(rate, key);

  private failIf(method: 'countAll' | 'reserve'): void {
    if (this.failing === method) throw new Error('the server refused');
  }
}
