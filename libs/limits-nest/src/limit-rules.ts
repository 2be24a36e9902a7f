import { type Cap, CapLedger, type Rate, type RateStore, RateWindows } from '@headgate/limits-core';
import { Inject, Injectable } from '@nestjs/common';
import type { NamedCapRule } from './capped.js';
import { LimitMetrics } from './limit-metrics.js';
import type { NamedRateRule } from './limited.js';
import { LIMITS_OPTIONS, type LimitsOptions } from './limits-options.js';

/** The rules of this process: what routes declare, under the options that it was started with. */
@Injectable()
export class LimitRules {
  readonly store: RateStore;
  readonly ledger: CapLedger;
  readonly metrics: LimitMetrics;
  readonly #options: LimitsOptions;
  readonly #declared = new Map<string, string>();
  readonly #rates = new Map<string, Rate>();
  readonly #caps = new Map<string, Cap>();

  constructor(@Inject(LIMITS_OPTIONS) options: LimitsOptions) {
    this.#options = options;
    this.store = options.store ?? new RateWindows();
    this.ledger = options.ledger ?? new CapLedger();
    this.metrics = new LimitMetrics(options.registry, this.store);
  }

  get ratesEnabled(): boolean {
    return this.#options.rates ?? true;
  }

  rate({ name, limit, windowMs }: NamedRateRule): Rate {
    let rate = this.#rates.get(name);
    if (!rate) {
      this.#declared.set(name, `${limit} per ${windowMs} ms`);
      rate = this.store.define(name, { limit, windowMs, ...this.#options.rateTerms?.[name] });
      this.#rates.set(name, rate);
    }
    if (this.#declared.get(name) !== `${limit} per ${windowMs} ms`) {
      throw new RangeError(`${name}: two routes declare this rate with different terms.`);
    }
    return rate;
  }

  cap({ name, limit, what }: NamedCapRule): Cap {
    let cap = this.#caps.get(name);
    if (!cap) {
      cap = this.ledger.define(name, { limit: this.#options.capLimits?.[name] ?? limit, what });
      this.#caps.set(name, cap);
    }
    return cap;
  }

  isShadow(name: string): boolean {
    return this.#options.shadow?.includes(name) ?? false;
  }
}
