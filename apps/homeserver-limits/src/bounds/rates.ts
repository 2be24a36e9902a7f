import {
  type Claim,
  type Rate,
  RateExceeded,
  type RateRefusal,
  type RateStore,
  type Reservation,
} from '@headgate/limits-core';
import type { LiveConfig } from '../config/live-config.js';
import type { DecisionWatch } from '../metrics/limits-metrics.js';

const MINUTE = 60_000;

const NOTHING_TAKEN: Reservation = {
  granted: true,
  keep: () => undefined,
  forget: () => undefined,
  release: () => undefined,
};

/**
 * The six rates of the contract. Switched off, they let everything through. Where the windows are in this process, answers
 * come at once and nothing is waited for; where nodes share them, they are promises.
 */
export class Rates {
  readonly loginAccount: Rate;
  readonly loginSource: Rate;
  readonly register: Rate;
  readonly ring: Rate;
  readonly openIdToken: Rate;
  readonly sfuCredential: Rate;

  constructor(
    readonly windows: RateStore,
    private readonly config: LiveConfig,
    private readonly watch: DecisionWatch = () => undefined,
  ) {
    this.loginAccount = windows.define('login_account', { limit: 5, windowMs: MINUTE });
    this.loginSource = windows.define('login_source', { limit: 30, windowMs: MINUTE });
    this.register = windows.define('register', { limit: 5, windowMs: 5 * MINUTE });
    this.ring = windows.define('ring', this.ringTerms());
    this.openIdToken = windows.define('openid_token', { limit: 20, windowMs: MINUTE });
    this.sfuCredential = windows.define('sfu_credential', { limit: 20, windowMs: MINUTE });
  }

  /** Takes over what a reload has changed; open windows stay open. */
  reconfigure(): void {
    this.windows.define('ring', this.ringTerms());
  }

  /** Counts one event. Throws or rejects with RateExceeded. */
  count(rate: Rate, key: string): void | Promise<void> {
    if (!this.enabled) return;
    return after(this.windows.count(rate, key), (refusal) => this.counted(rate, refusal));
  }

  /**
   * Takes room on every key or on none; on the keys of shadow rates where there is some. Throws or rejects with
   * RateExceeded.
   */
  reserve(claims: readonly Claim[]): Reservation | Promise<Reservation> {
    if (!this.enabled) return NOTHING_TAKEN;
    const real = claims.filter(({ rate }) => !this.isShadow(rate));
    const taken = after(this.windows.reserve(real), (answer) => this.taken(real, answer));
    if (real.length === claims.length) return taken;
    return this.withShadows(
      taken,
      claims.filter(({ rate }) => this.isShadow(rate)),
    );
  }

  private counted(rate: Rate, refusal: RateRefusal | undefined): void {
    const shadow = this.isShadow(rate);
    this.watch(rate.name, refusal ? (shadow ? 'shadow_refused' : 'refused') : 'granted');
    if (refusal && !shadow) throw new RateExceeded(refusal);
  }

  private taken(claims: readonly Claim[], answer: Reservation | RateRefusal): Reservation {
    if (!answer.granted) {
      this.watch(answer.rate, 'refused');
      throw new RateExceeded(answer);
    }
    for (const { rate } of claims) this.watch(rate.name, 'granted');
    return answer;
  }

  private async withShadows(taken: Reservation | Promise<Reservation>, claims: readonly Claim[]): Promise<Reservation> {
    const reservations = [await taken];
    for (const claim of claims) {
      const answer = await this.windows.reserve([claim]);
      this.watch(claim.rate.name, answer.granted ? 'granted' : 'shadow_refused');
      if (answer.granted) reservations.push(answer);
    }
    return together(reservations);
  }

  private isShadow({ name }: Rate): boolean {
    return this.config.current.ratelimit.shadow.includes(name);
  }

  private get enabled(): boolean {
    return this.config.current.ratelimit.enabled;
  }

  private ringTerms() {
    return { limit: this.config.current.ratelimit.rings_per_minute, windowMs: MINUTE };
  }
}

const together = (reservations: readonly Reservation[]): Reservation => {
  const settle = async (outcome: 'keep' | 'forget' | 'release'): Promise<void> => {
    await Promise.all(reservations.map((reservation) => reservation[outcome]()));
  };
  return {
    granted: true,
    keep: () => settle('keep'),
    forget: () => settle('forget'),
    release: () => settle('release'),
  };
};

/** What follows from an answer that is here or will come: at once where it is here. */
function after<Value, Next>(value: Value | Promise<Value>, next: (value: Value) => Next): Next | Promise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
