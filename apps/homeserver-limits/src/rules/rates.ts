import type { RateKey, Rate, RateLimiter, Reservation } from '@headgate/limits-core';
import { type DecisionListener, RateEnforcer } from '@headgate/limits-nest';
import type { LiveConfig } from '../config/live-config.js';

const MINUTE_MS = 60_000;

/**
 * The six rates of the contract. Switched off, they grant everything. Windows in this process decide synchronously, shared windows
 * return promises.
 */
export class Rates {
  readonly loginAccount: Rate;
  readonly loginSource: Rate;
  readonly register: Rate;
  readonly ring: Rate;
  readonly openIdToken: Rate;
  readonly sfuCredential: Rate;
  private readonly enforcer: RateEnforcer;

  constructor(
    readonly windows: RateLimiter,
    private readonly config: LiveConfig,
    watch: DecisionListener = () => undefined,
  ) {
    this.enforcer = new RateEnforcer(windows, (rate) => config.current.ratelimit.shadow.includes(rate), watch);
    this.loginAccount = windows.define('login_account', { limit: 5, windowMs: MINUTE_MS });
    this.loginSource = windows.define('login_source', { limit: 30, windowMs: MINUTE_MS });
    this.register = windows.define('register', { limit: 5, windowMs: 5 * MINUTE_MS });
    this.ring = windows.define('ring', this.ringTerms());
    this.openIdToken = windows.define('openid_token', { limit: 20, windowMs: MINUTE_MS });
    this.sfuCredential = windows.define('sfu_credential', { limit: 20, windowMs: MINUTE_MS });
  }

  /** Applies reloaded settings. Open windows stay open. */
  reconfigure(): void {
    this.windows.define('ring', this.ringTerms());
  }

  /** Counts one request. Throws or rejects with RateExceeded. */
  count(rate: Rate, key: string): void | Promise<void> {
    if (this.enabled) return this.enforcer.count(rate, key);
  }

  /** Reserves under every key or under none; under the keys of shadow rates where there is room. Throws or rejects with RateExceeded. */
  reserve(keys: readonly RateKey[]): Reservation | Promise<Reservation> {
    return this.enforcer.reserve(this.enabled ? keys : []);
  }

  private get enabled(): boolean {
    return this.config.current.ratelimit.enabled;
  }

  private ringTerms() {
    return { limit: this.config.current.ratelimit.rings_per_minute, windowMs: MINUTE_MS };
  }
}
