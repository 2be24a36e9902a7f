import {
  type CountedKey,
  type RateKey,
  type Rate,
  type RateRefusal,
  RateLimiter,
  type RateOptions,
  type Reservation,
  type WindowState,
} from '@headgate/limits-core';

/** Windows that report each change of theirs. A refusal changes nothing. */
export class ObservedWindows extends RateLimiter {
  constructor(
    private readonly windows: RateLimiter,
    private readonly onChange: () => void,
  ) {
    super();
  }

  override define(name: string, options: RateOptions): Rate {
    return this.windows.define(name, options);
  }

  override count(rate: Rate, key: string, limit?: number): RateRefusal | undefined | Promise<RateRefusal | undefined> {
    const result = this.windows.count(rate, key, limit);
    if (result instanceof Promise) return result.then((refusal) => this.reportCount(refusal));
    return this.reportCount(result);
  }

  override countAll(keys: readonly CountedKey[]): RateRefusal | undefined | Promise<RateRefusal | undefined> {
    const result = this.windows.countAll(keys);
    if (result instanceof Promise) return result.then((refusal) => this.reportCount(refusal));
    return this.reportCount(result);
  }

  override reserve(keys: readonly RateKey[]): Reservation | RateRefusal | Promise<Reservation | RateRefusal> {
    const result = this.windows.reserve(keys);
    return result instanceof Promise ? result.then((reservation) => this.observe(reservation)) : this.observe(result);
  }

  override peek(rate: Rate, key: string): WindowState | Promise<WindowState> {
    return this.windows.peek(rate, key);
  }

  override reset(rate: Rate, key: string): boolean | Promise<boolean> {
    this.onChange();
    return this.windows.reset(rate, key);
  }

  private reportCount(refusal: RateRefusal | undefined): RateRefusal | undefined {
    if (!refusal) this.onChange();
    return refusal;
  }

  private observe(result: Reservation | RateRefusal): Reservation | RateRefusal {
    if (!result.granted) return result;
    this.onChange();
    const settle = (outcome: 'commit' | 'reset' | 'release') => {
      this.onChange();
      return result[outcome]();
    };
    return {
      granted: true,
      commit: () => settle('commit'),
      reset: () => settle('reset'),
      release: () => settle('release'),
    };
  }
}
