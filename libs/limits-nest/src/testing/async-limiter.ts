import {
  type CountedKey,
  type RateKey,
  type Rate,
  type RateOptions,
  RateLimiter,
  type MemoryRateLimiter,
} from '@headgate/limits-core';

/** A limiter that answers asynchronously, like one on a server. */
export class AsyncLimiter extends RateLimiter {
  constructor(private readonly limiter: MemoryRateLimiter) {
    super();
  }

  override define(name: string, options: RateOptions): Rate {
    return this.limiter.define(name, options);
  }

  override async count(rate: Rate, key: string, limit?: number) {
    await this.delay();
    return this.limiter.count(rate, key, limit);
  }

  override async countAll(keys: readonly CountedKey[]) {
    await this.delay();
    return this.limiter.countAll(keys);
  }

  override async reserve(keys: readonly RateKey[]) {
    await this.delay();
    const answer = this.limiter.reserve(keys);
    if (!answer.granted) return answer;
    const settle = async (settlement: 'commit' | 'reset' | 'release') => {
      await this.delay();
      answer[settlement]();
    };
    return {
      granted: true as const,
      commit: () => settle('commit'),
      reset: () => settle('reset'),
      release: () => settle('release'),
    };
  }

  override async peek(rate: Rate, key: string) {
    return this.limiter.peek(rate, key);
  }

  override async reset(rate: Rate, key: string) {
    return this.limiter.reset(rate, key);
  }

  private delay(): Promise<void> {
    return new Promise((next) => setImmediate(next));
  }
}
