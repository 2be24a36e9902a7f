import { type Clock, MonotonicClock } from './clock.js';
import type { MemoryRateLimiter } from './memory-rate-limiter.js';
import type { MemoryReservation } from './memory-reservation.js';
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
 * Uses a limiter that several nodes share, and this node's own one while the shared one fails. Events that this node
 * lets through always count in its own limiter too, so it is up to date when it is needed: during an outage, `nodes`
 * nodes let through at most `nodes × limit` events per window together, and at most `limit` more in the window in which
 * it ends. Events are reserved there before the shared limiter is asked, so that an outage in the middle of parallel
 * events does not grant any more of them.
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

  override async count(rate: Rate, key: string, limit = rate.limit): Promise<RateRefusal | undefined> {
    const own = this.own.reserve([{ rate, key, limit }]);
    const answer = await this.ask(() => this.shared.count(rate, key, limit));
    if ('failed' in answer) return commit(own);
    if (answer.value) release(own);
    else if (own.granted) own.commit();
    else this.own.count(rate, key, limit);
    return answer.value;
  }

  override async countAll(keys: readonly CountedKey[]): Promise<RateRefusal | undefined> {
    // A window of another length can't be reserved.
    const canReserve = keys.every(({ windowMs }) => windowMs === undefined);
    const own = canReserve ? this.own.reserve(keys) : undefined;
    const answer = await this.ask(() => this.shared.countAll(keys));
    if ('failed' in answer) return own ? commit(own) : this.own.countAll(keys);
    if (answer.value) release(own);
    else if (own?.granted) own.commit();
    else this.own.countAll(keys);
    return answer.value;
  }

  override async reserve(keys: readonly RateKey[]): Promise<Reservation | RateRefusal> {
    const own = this.own.reserve(keys);
    const answer = await this.ask(() => this.shared.reserve(keys));
    if ('failed' in answer) return own;
    if (answer.value.granted) return this.combine(answer.value, own.granted ? own : this.settledDirectly(keys));
    release(own);
    return answer.value;
  }

  override async peek(rate: Rate, key: string): Promise<WindowState> {
    const answer = await this.ask(() => this.shared.peek(rate, key));
    return 'failed' in answer ? this.own.peek(rate, key) : answer.value;
  }

  override async reset(rate: Rate, key: string): Promise<boolean> {
    const existed = this.own.reset(rate, key);
    const answer = await this.ask(() => this.shared.reset(rate, key));
    return 'failed' in answer ? existed : answer.value || existed;
  }

  /**
   * Settles both reservations. If the shared limiter fails in between, the event counts there until its window closes.
   * That errs on the side of refusing, so the caller does not need to know.
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

  /**
   * For keys that have no room in this node's own limiter, because of an outage: outcomes apply to their windows
   * directly.
   */
  private settledDirectly(keys: readonly RateKey[]): Reservation {
    return {
      granted: true,
      commit: () => keys.forEach((key) => void this.own.countAll([key])),
      reset: () => keys.forEach(({ rate, key }) => void this.own.reset(rate, key)),
      release: () => undefined,
    };
  }

  private async ask<Answer>(shared: () => Promise<Answer>): Promise<{ value: Answer } | { failed: true }> {
    if (this.clock.now() < this.retryAt) return { failed: true };
    try {
      const value = await shared();
      if (this.degraded) {
        this.degraded = false;
        this.onChange();
      }
      return { value };
    } catch (error) {
      this.fail(error);
      return { failed: true };
    }
  }

  private fail(error: unknown): void {
    this.retryAt = this.clock.now() + this.retryAfterMs;
    if (this.degraded) return;
    this.degraded = true;
    this.onChange(error);
  }
}

function commit(own: MemoryReservation | RateRefusal): RateRefusal | undefined {
  if (!own.granted) return own;
  own.commit();
  return undefined;
}

function release(own: MemoryReservation | RateRefusal | undefined): void {
  if (own?.granted) own.release();
}
