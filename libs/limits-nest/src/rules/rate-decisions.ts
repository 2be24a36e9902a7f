import {
  type Claim,
  type Rate,
  RateExceeded,
  type RateRefusal,
  type RateStore,
  type Reservation,
} from '@headgate/limits-core';
import type { DecisionWatch } from '../metrics/decision-watch.js';

const NOTHING_TAKEN: Reservation = {
  granted: true,
  keep: () => undefined,
  forget: () => undefined,
  release: () => undefined,
};

/**
 * Decides under rates, and tells of each decision. A rate in shadow is counted and reported apart and refuses nobody.
 * Where the windows are in this process, answers come at once; where nodes share them, they are promises.
 */
export class RateDecisions {
  constructor(
    private readonly store: RateStore,
    private readonly isShadow: (rate: string) => boolean,
    private readonly watch: DecisionWatch,
  ) {}

  /** Counts one event. Throws or rejects with RateExceeded. */
  count(rate: Rate, key: string): void | Promise<void> {
    return after(this.store.count(rate, key), (refusal) => {
      const shadow = this.isShadow(rate.name);
      this.watch(rate.name, refusal ? (shadow ? 'shadow_refused' : 'refused') : 'granted');
      if (refusal && !shadow) throw new RateExceeded(refusal);
    });
  }

  /**
   * Takes room on every key or on none; on the keys of shadow rates where there is some. Throws or rejects with
   * RateExceeded.
   */
  reserve(claims: readonly Claim[]): Reservation | Promise<Reservation> {
    const real = claims.filter(({ rate }) => !this.isShadow(rate.name));
    const taken = after(this.#take(real), (answer) => this.#granted(real, answer));
    if (real.length === claims.length) return taken;
    return this.#withShadows(taken, claims);
  }

  /**
   * The same for claims whose fates are settled apart, a reservation for each group: all groups are taken, or none is.
   * Rejects with RateExceeded.
   */
  async reserveGroups(groups: readonly (readonly Claim[])[]): Promise<Reservation[]> {
    if (groups.length === 1) return [await this.reserve(groups[0]!)];
    const taken: Reservation[] = [];
    let refused: RateRefusal | undefined;
    for (const group of groups) {
      const answer = await this.#take(group.filter(({ rate }) => !this.isShadow(rate.name)));
      if (answer.granted) taken.push(answer);
      else if (answer.retryAfterMs > (refused?.retryAfterMs ?? 0)) refused = answer;
    }
    if (refused) await Promise.all(taken.map((reservation) => reservation.release()));
    this.#granted(
      groups.flat().filter(({ rate }) => !this.isShadow(rate.name)),
      refused ?? NOTHING_TAKEN,
    );
    return Promise.all(groups.map((group, index) => this.#withShadows(taken[index]!, group)));
  }

  #take(claims: readonly Claim[]): Reservation | RateRefusal | Promise<Reservation | RateRefusal> {
    return claims.length === 0 ? NOTHING_TAKEN : this.store.reserve(claims);
  }

  #granted(claims: readonly Claim[], answer: Reservation | RateRefusal): Reservation {
    if (!answer.granted) {
      this.watch(answer.rate, 'refused');
      throw new RateExceeded(answer);
    }
    for (const { rate } of claims) this.watch(rate.name, 'granted');
    return answer;
  }

  async #withShadows(taken: Reservation | Promise<Reservation>, claims: readonly Claim[]): Promise<Reservation> {
    const reservations = [await taken];
    for (const claim of claims.filter(({ rate }) => this.isShadow(rate.name))) {
      const answer = await this.store.reserve([claim]);
      this.watch(claim.rate.name, answer.granted ? 'granted' : 'shadow_refused');
      if (answer.granted) reservations.push(answer);
    }
    return together(reservations);
  }
}

function together(reservations: readonly Reservation[]): Reservation {
  const settle = async (outcome: 'keep' | 'forget' | 'release'): Promise<void> => {
    await Promise.all(reservations.map((reservation) => reservation[outcome]()));
  };
  return {
    granted: true,
    keep: () => settle('keep'),
    forget: () => settle('forget'),
    release: () => settle('release'),
  };
}

/** What follows from an answer that is here or will come: at once where it is here. */
function after<Value, Next>(value: Value | Promise<Value>, next: (value: Value) => Next): Next | Promise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
