import { type Clock, MonotonicClock } from './clock.js';
import { RateStore } from './rate-store.port.js';
import type { RateWindows } from './rate-windows.js';
import type { Claim, Rate, RateRefusal, RateTerms, Reservation, WindowView } from './rate.js';
import type { SharedWindows } from './shared-windows.port.js';

export interface FallbackWindowsOptions {
  readonly clock?: Clock;
  /** How long the shared windows are left alone after they failed: 1,000 ms when left out. */
  readonly retryAfterMs?: number;
  /** Told when the shared windows are lost (with the error) and found again (without). */
  readonly onChange?: (error?: unknown) => void;
}

/**
 * Windows shared by several nodes, and this node's own while those are away. What this node lets through is counted in
 * its own windows all the time, so they are warm when they are needed: during an outage `nodes` nodes let through at
 * most `nodes × limit` events a window together, and at most `limit` more in the window in which the outage ends.
 */
export class FallbackWindows extends RateStore {
  readonly #shared: SharedWindows;
  readonly #own: RateWindows;
  readonly #clock: Clock;
  readonly #retryAfterMs: number;
  readonly #onChange: (error?: unknown) => void;
  #away = false;
  #retryAt = -Infinity;

  constructor(shared: SharedWindows, own: RateWindows, options: FallbackWindowsOptions = {}) {
    super();
    this.#shared = shared;
    this.#own = own;
    this.#clock = options.clock ?? new MonotonicClock();
    this.#retryAfterMs = options.retryAfterMs ?? 1000;
    this.#onChange = options.onChange ?? (() => undefined);
  }

  /** The shared windows are being left alone, or have failed and not yet been found again. */
  get away(): boolean {
    return this.#away;
  }

  override define(name: string, terms: RateTerms): Rate {
    return this.#own.define(name, terms);
  }

  override count(rate: Rate, key: string): Promise<RateRefusal | undefined> {
    return this.#try(
      async () => {
        const refusal = await this.#shared.count(rate, key);
        if (!refusal) this.#own.count(rate, key);
        return refusal;
      },
      () => this.#own.count(rate, key),
    );
  }

  override reserve(claims: readonly Claim[]): Promise<Reservation | RateRefusal> {
    return this.#try(
      async () => {
        const answer = await this.#shared.reserve(claims);
        return answer.granted ? this.#both(answer, this.#ownOf(claims)) : answer;
      },
      () => this.#own.reserve(claims),
    );
  }

  override peek(rate: Rate, key: string): Promise<WindowView> {
    return this.#try(
      () => this.#shared.peek(rate, key),
      () => this.#own.peek(rate, key),
    );
  }

  override async forgive(rate: Rate, key: string): Promise<boolean> {
    const here = this.#own.forgive(rate, key);
    return this.#try(
      async () => (await this.#shared.forgive(rate, key)) || here,
      () => here,
    );
  }

  /**
   * Settles both. The shared windows may be lost meanwhile: what they hold then counts until their window closes, which
   * errs on the side of refusing, so nothing has to be said to whoever settles.
   */
  #both(shared: Reservation, own: Reservation): Reservation {
    const settle = async (outcome: 'keep' | 'forget' | 'release'): Promise<void> => {
      await own[outcome]();
      await Promise.resolve(shared[outcome]()).catch((error: unknown) => this.#lost(error));
    };
    return {
      granted: true,
      keep: () => settle('keep'),
      forget: () => settle('forget'),
      release: () => settle('release'),
    };
  }

  /** Room in this node's own windows. Where an outage has filled some of them, their outcome is taken over all the same. */
  #ownOf(claims: readonly Claim[]): Reservation {
    const taken = this.#own.reserve(claims);
    if (taken.granted) return taken;
    return {
      granted: true,
      keep: () => claims.forEach(({ rate, key }) => void this.#own.count(rate, key)),
      forget: () => claims.forEach(({ rate, key }) => void this.#own.forgive(rate, key)),
      release: () => undefined,
    };
  }

  async #try<Answer>(shared: () => Promise<Answer>, own: () => Answer): Promise<Answer> {
    if (this.#clock.now() < this.#retryAt) return own();
    try {
      const answer = await shared();
      if (this.#away) {
        this.#away = false;
        this.#onChange();
      }
      return answer;
    } catch (error) {
      this.#lost(error);
      return own();
    }
  }

  #lost(error: unknown): void {
    this.#retryAt = this.#clock.now() + this.#retryAfterMs;
    if (this.#away) return;
    this.#away = true;
    this.#onChange(error);
  }
}
