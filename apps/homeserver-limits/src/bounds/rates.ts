import type { RateKey, Rate, RateLimiter, Reservation } from '@headgate/limits-core';
import { type DecisionListener, RateEnforcer } from '@headgate/limits-nest';
import type { LiveConfig } from '../config/live-config.js';

const MINUTE = 60_000;

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
  private readonly decisions: RateEnforcer;

  constructor(
    readonly windows: RateLimiter,
    private readonly config: LiveConfig,
    watch: DecisionListener = () => undefined,
  ) {
    this.decisions = new RateEnforcer(windows, (rate) => config.current.ratelimit.shadow.includes(rate), watch);
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
    if (this.enabled) return this.decisions.count(rate, key);
  }

  /**
   * Takes room on every key or on none; on the keys of shadow rates where there is some. Throws or rejects with
   * RateExceeded.
   */
  reserve(claims: readonly RateKey[]): Reservation | Promise<Reservation> {
    return this.decisions.reserve(this.enabled ? claims : []);
  }

  private get enabled(): boolean {
    return this.config.current.ratelimit.enabled;
  }

  private ringTerms() {
    return { limit: this.config.current.ratelimit.rings_per_minute, windowMs: MINUTE };
  }
}
