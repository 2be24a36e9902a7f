import {
  type Rate,
  RateExceeded,
  type RateKey,
  type RateLimiter,
  type RateRefusal,
  type Reservation,
} from '@headgate/limits-core';
import type { DecisionListener } from '../metrics/limit-metrics.js';

const EMPTY_RESERVATION: Reservation = {
  granted: true,
  commit: () => undefined,
  reset: () => undefined,
  release: () => undefined,
};

/**
 * Enforces rates, and reports each decision. A rate in shadow mode is counted and reported separately and never
 * refuses. With a limiter in this process, methods return values immediately; with a shared one, they return promises.
 */
export class RateEnforcer {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly isShadow: (rate: string) => boolean,
    private readonly onDecision: DecisionListener,
  ) {}

  /** Counts one event. Throws or rejects with RateExceeded. */
  count(rate: Rate, key: string, limit?: number): void | Promise<void> {
    return then(this.limiter.count(rate, key, limit), (refusal) => {
      const shadow = this.isShadow(rate.name);
      this.onDecision(rate.name, refusal ? (shadow ? 'shadow_refused' : 'refused') : 'granted');
      if (refusal && !shadow) throw new RateExceeded(refusal);
    });
  }

  /**
   * Reserves one event under every key or under none; under keys of shadow rates only if they have room. Throws or
   * rejects with RateExceeded.
   */
  reserve(keys: readonly RateKey[]): Reservation | Promise<Reservation> {
    const enforced = keys.filter(({ rate }) => !this.isShadow(rate.name));
    const reserved = then(this.reserveAll(enforced), (answer) => this.requireGranted(enforced, answer));
    if (enforced.length === keys.length) return reserved;
    return this.addShadows(reserved, keys);
  }

  /**
   * Like `reserve` for groups of keys that are settled separately, with one reservation per group: either all groups
   * are reserved or none. Rejects with RateExceeded.
   */
  async reserveGroups(groups: readonly (readonly RateKey[])[]): Promise<Reservation[]> {
    if (groups.length === 1) return [await this.reserve(groups[0]!)];
    const reservations: Reservation[] = [];
    let refused: RateRefusal | undefined;
    for (const group of groups) {
      const enforced = group.filter(({ rate }) => !this.isShadow(rate.name));
      const answer = await orRelease(reservations, async () => this.reserveAll(enforced));
      if (answer.granted) reservations.push(answer);
      else if (answer.retryAfterMs > (refused?.retryAfterMs ?? 0)) refused = answer;
    }
    if (refused) await Promise.all(reservations.map((reservation) => reservation.release()));
    this.requireGranted(
      groups.flat().filter(({ rate }) => !this.isShadow(rate.name)),
      refused ?? EMPTY_RESERVATION,
    );
    return Promise.all(groups.map((group, index) => this.addShadows(reservations[index]!, group)));
  }

  private reserveAll(keys: readonly RateKey[]): Reservation | RateRefusal | Promise<Reservation | RateRefusal> {
    return keys.length === 0 ? EMPTY_RESERVATION : this.limiter.reserve(keys);
  }

  private requireGranted(keys: readonly RateKey[], answer: Reservation | RateRefusal): Reservation {
    if (!answer.granted) {
      this.onDecision(answer.rate, 'refused');
      throw new RateExceeded(answer);
    }
    for (const { rate } of keys) this.onDecision(rate.name, 'granted');
    return answer;
  }

  private async addShadows(
    reserved: Reservation | Promise<Reservation>,
    keys: readonly RateKey[],
  ): Promise<Reservation> {
    const reservations = [await reserved];
    for (const rateKey of keys.filter(({ rate }) => this.isShadow(rate.name))) {
      const answer = await orRelease(reservations, async () => this.limiter.reserve([rateKey]));
      this.onDecision(rateKey.rate.name, answer.granted ? 'granted' : 'shadow_refused');
      if (answer.granted) reservations.push(answer);
    }
    return combine(reservations);
  }
}

/** Releases the earlier reservations when a limiter on a server fails. */
async function orRelease<Answer>(reserved: readonly Reservation[], reserve: () => Promise<Answer>): Promise<Answer> {
  try {
    return await reserve();
  } catch (error) {
    await Promise.allSettled(reserved.map(async (reservation) => reservation.release()));
    throw error;
  }
}

function combine(reservations: readonly Reservation[]): Reservation {
  const settle = async (settlement: 'commit' | 'reset' | 'release'): Promise<void> => {
    await Promise.all(reservations.map((reservation) => reservation[settlement]()));
  };
  return {
    granted: true,
    commit: () => settle('commit'),
    reset: () => settle('reset'),
    release: () => settle('release'),
  };
}

/** Applies a function to a value, now or once it has resolved. */
function then<Value, Next>(value: Value | Promise<Value>, next: (value: Value) => Next): Next | Promise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
