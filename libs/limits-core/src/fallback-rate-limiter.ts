import { type Clock, MonotonicClock } from './clock.js';
import type { MemoryRateLimiter } from './memory-rate-limiter.js';
import { RateLimiter, type SharedRateLimiter } from './rate-limiter.port.js';
import type { CountedKey, Rate, RateKey, RateOptions, RateRefusal, Reservation, WindowState } from './rate.js';

export interface FallbackRateLimiterOptions {
  readonly clock?: Clock;
  /** How long to wait after a failure before using the shared limiter again; 1,000 ms by default. */
  readonly retryAfterMs?: number;
  /** Called with the error when the shared limiter fails, and without one when it works again. */
  readonly onChange?: (error?: unknown) => void;
}

/**
 * Uses a limiter that several nodes share, and this node's own one while the shared one fails. Events that this node lets
 * through always count in its own limiter too, so it is up to date when it is needed: during an outage, `nodes` nodes let
 * through at most `nodes × limit` events per window together, and at most `limit` more in the window in which it ends.
 */
export class FallbackRateLimiter extends RateLimiter {
  private readonly shared: SharedRateLimiter;
  private readonly own: MemoryRateLimiter;
  private readonly clock: Clock;
  private readonly retryAfterMs: number;
  private readonly onChange: (error?: unknown) => void;
  private degraded = false;
  private retryAt = -Infinity;

  constructor(shared: SharedRateLimiter, own: MemoryRateLimiter, options: FallbackRateLimiterOptions = {}) {
    super();
    this.shared = shared;
    this.own = own;
    this.clock = options.clock ?? new MonotonicClock();
    this.retryAfterMs = options.retryAfterMs ?? 1000;
    this.onChange = options.onChange ?? (() => undefined);
  }

  /** Whether the last use of the shared limiter failed, so that this node counts on its own. */
  get isDegraded(): boolean {
    return this.degraded;
  }

  override define(name: string, options: RateOptions): Rate {
    return this.own.define(name, options);
  }

  override count(rate: Rate, key: string, limit?: number): Promise<RateRefusal | undefined> {
    return this.withFallback(
      async () => {
        const refusal = await this.shared.count(rate, key, limit);
        if (!refusal) this.own.count(rate, key, limit);
        return refusal;
      },
      () => this.own.count(rate, key, limit),
    );
  }

  override countAll(keys: readonly CountedKey[]): Promise<RateRefusal | undefined> {
    return this.withFallback(
      async () => {
        const refusal = await this.shared.countAll(keys);
        if (!refusal) this.own.countAll(keys);
        return refusal;
      },
      () => this.own.countAll(keys),
    );
  }

  override reserve(keys: readonly RateKey[]): Promise<Reservation | RateRefusal> {
    return this.withFallback(
      async () => {
        const answer = await this.shared.reserve(keys);
        return answer.granted ? this.combine(answer, this.reserveOwn(keys)) : answer;
      },
      () => this.own.reserve(keys),
    );
  }

  override peek(rate: Rate, key: string): Promise<WindowState> {
    return this.withFallback(
      () => this.shared.peek(rate, key),
      () => this.own.peek(rate, key),
    );
  }

  override async reset(rate: Rate, key: string): Promise<boolean> {
    const existed = this.own.reset(rate, key);
    return this.withFallback(
      async () => (await this.shared.reset(rate, key)) || existed,
      () => existed,
    );
  }

  /**
   * Settles both reservations. If the shared limiter fails in between, the event counts there until its window closes. That
   * errs on the side of refusing, so the caller does not need to know.
   */
  private combine(shared: Reservation, own: Reservation): Reservation {
    const settle = async (settlement: 'commit' | 'reset' | 'release'): Promise<void> => {
      await own[settlement]();
      await Promise.resolve(shared[settlement]()).catch((error: unknown) => this.fail(error));
    };
    return {
      granted: true,
      commit: () => settle('commit'),
      reset: () => settle('reset'),
      release: () => settle('release'),
    };
  }

  /** A reservation in this node's own limiter. Keys that an outage has filled there are settled directly instead. */
  private reserveOwn(keys: readonly RateKey[]): Reservation {
    const answer = this.own.reserve(keys);
    if (answer.granted) return answer;
    return {
      granted: true,
      commit: () => keys.forEach(({ rate, key, limit }) => void this.own.count(rate, key, limit)),
      reset: () => keys.forEach(({ rate, key }) => void this.own.reset(rate, key)),
      release: () => undefined,
    };
  }

  private async withFallback<Answer>(shared: () => Promise<Answer>, own: () => Answer): Promise<Answer> {
    if (this.clock.now() < this.retryAt) return own();
    try {
      const answer = await shared();
      if (this.degraded) {
        this.degraded = false;
        this.onChange();
      }
      return answer;
    } catch (error) {
      this.fail(error);
      return own();
    }
  }

  private fail(error: unknown): void {
    this.retryAt = this.clock.now() + this.retryAfterMs;
    if (this.degraded) return;
    this.degraded = true;
    this.onChange(error);
  }
}
