import { type Claim, type Rate, RateExceeded, type Reservation, type RateWindows } from '@headgate/limits-core';
import type { LiveConfig } from '../config/live-config.js';
import type { DecisionWatch } from '../metrics/limits-metrics.js';

const MINUTE = 60_000;

const NOTHING_TAKEN: Reservation = {
  granted: true,
  keep: () => undefined,
  forget: () => undefined,
  release: () => undefined,
};

/** The six rates of the contract. Switched off, they let everything through. */
export class Rates {
  readonly loginAccount: Rate;
  readonly loginSource: Rate;
  readonly register: Rate;
  readonly ring: Rate;
  readonly openIdToken: Rate;
  readonly sfuCredential: Rate;

  constructor(
    readonly windows: RateWindows,
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

  /** Counts one event. @throws RateExceeded */
  count(rate: Rate, key: string): void {
    if (!this.enabled) return;
    const refusal = this.windows.count(rate, key);
    const shadow = this.isShadow(rate);
    this.watch(rate.name, refusal ? (shadow ? 'shadow_refused' : 'refused') : 'granted');
    if (refusal && !shadow) throw new RateExceeded(refusal);
  }

  /** Takes room on every key or on none; on the keys of shadow rates where there is some. @throws RateExceeded */
  reserve(claims: readonly Claim[]): Reservation {
    if (!this.enabled) return NOTHING_TAKEN;
    const real = claims.filter(({ rate }) => !this.isShadow(rate));
    const answer = this.windows.reserve(real);
    if (!answer.granted) {
      this.watch(answer.rate, 'refused');
      throw new RateExceeded(answer);
    }
    for (const { rate } of real) this.watch(rate.name, 'granted');
    const shadows = claims.filter(({ rate }) => this.isShadow(rate)).flatMap((claim) => this.reserveShadow(claim));
    return shadows.length === 0 ? answer : together([answer, ...shadows]);
  }

  private reserveShadow(claim: Claim): Reservation[] {
    const answer = this.windows.reserve([claim]);
    this.watch(claim.rate.name, answer.granted ? 'granted' : 'shadow_refused');
    return answer.granted ? [answer] : [];
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

const together = (reservations: readonly Reservation[]): Reservation => ({
  granted: true,
  keep: () => reservations.forEach((reservation) => void reservation.keep()),
  forget: () => reservations.forEach((reservation) => void reservation.forget()),
  release: () => reservations.forEach((reservation) => void reservation.release()),
});
