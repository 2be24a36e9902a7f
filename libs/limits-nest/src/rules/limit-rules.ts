import { type Cap, CapLedger, type Rate, type RateStore, RateWindows, type WindowView } from '@headgate/limits-core';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { NamedCapRule } from './cap-rule.js';
import { LimitMetrics } from '../metrics/limit-metrics.js';
import { RateDecisions } from './rate-decisions.js';
import type { NamedRateRule } from './rate-rule.js';
import { LIMITS_OPTIONS, type LimitsOptions } from './limits-options.js';

/** The rules of this application: what routes declare, under the options that it was started with. */
@Injectable()
export class LimitRules implements OnModuleDestroy {
  readonly store: RateStore;
  readonly ledger: CapLedger;
  readonly metrics: LimitMetrics;
  readonly decisions: RateDecisions;
  readonly #options: LimitsOptions;
  readonly #rates = new Map<string, { declared: string; rate: Rate }>();
  readonly #caps = new Map<string, { declared: string; cap: Cap }>();

  constructor(@Inject(LIMITS_OPTIONS) options: LimitsOptions) {
    this.#options = options;
    this.store = options.store ?? new RateWindows();
    this.ledger = options.ledger ?? new CapLedger();
    this.metrics = new LimitMetrics(options.registry, this.store);
    this.decisions = new RateDecisions(this.store, (rate) => this.isShadow(rate), this.metrics.decided);
  }

  onModuleDestroy(): void {
    this.metrics.close();
  }

  get ratesEnabled(): boolean {
    return this.#options.rates ?? true;
  }

  /** @throws RangeError when its terms make no sense, or another route has declared the name with other terms. */
  rate({ name, limit, windowMs }: NamedRateRule): Rate {
    const declared = `${limit} per ${windowMs} ms`;
    const known = this.#rates.get(name);
    if (known) return expectSame(name, known, declared).rate;
    const rate = this.store.define(name, { limit, windowMs, ...this.#options.rateTerms?.[name] });
    this.#rates.set(name, { declared, rate });
    return rate;
  }

  /** @throws RangeError when its limit makes no sense, or another route has declared the name with another one. */
  cap({ name, limit, what }: NamedCapRule): Cap {
    const declared = `${limit} ${what}`;
    const known = this.#caps.get(name);
    if (known) return expectSame(name, known, declared).cap;
    const cap = this.ledger.define(name, { limit: this.#options.capLimits?.[name] ?? limit, what });
    this.#caps.set(name, { declared, cap });
    return cap;
  }

  isShadow(name: string): boolean {
    return this.#options.shadow?.includes(name) ?? false;
  }

  /** What a key's window holds. @throws RangeError when no route declares the rate. */
  peek(rate: string, key: string): WindowView | Promise<WindowView> {
    return this.store.peek(this.#named(rate), key);
  }

  /** Wipes a key's window; false: there was none. @throws RangeError when no route declares the rate. */
  forgive(rate: string, key: string): boolean | Promise<boolean> {
    return this.store.forgive(this.#named(rate), key);
  }

  #named(name: string): Rate {
    const known = this.#rates.get(name);
    if (!known) throw new RangeError(`${name}: no route declares this rate.`);
    return known.rate;
  }
}

/** Routes that share a name share one budget; that they agree about its terms must not be left to which came first. */
function expectSame<Known extends { declared: string }>(name: string, known: Known, declared: string): Known {
  if (known.declared === declared) return known;
  throw new RangeError(`${name}: two routes declare this rule with different terms: ${known.declared}, ${declared}.`);
}
