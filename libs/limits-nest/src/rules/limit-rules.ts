import {
  type Cap,
  CapLedger,
  MemoryRateLimiter,
  type Rate,
  type RateLimiter,
  type WindowState,
} from '@headgate/limits-core';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { LimitMetrics } from '../metrics/limit-metrics.js';
import type { NamedCapRule } from './cap-rule.js';
import { LIMITS_OPTIONS, type LimitsOptions } from './limits-options.js';
import { RateEnforcer } from './rate-enforcer.js';
import type { NamedRateRule } from './rate-rule.js';

/** The rules of this application: those that routes declare, with the overrides of the options. */
@Injectable()
export class LimitRules implements OnModuleDestroy {
  readonly limiter: RateLimiter;
  readonly ledger: CapLedger;
  readonly metrics: LimitMetrics;
  readonly enforcer: RateEnforcer;
  private readonly rates = new Map<string, { declared: string; rate: Rate }>();
  private readonly caps = new Map<string, { declared: string; cap: Cap }>();

  constructor(@Inject(LIMITS_OPTIONS) private readonly options: LimitsOptions) {
    this.limiter = options.limiter ?? new MemoryRateLimiter();
    this.ledger = options.ledger ?? new CapLedger();
    this.metrics = new LimitMetrics(options.registry, this.limiter);
    this.enforcer = new RateEnforcer(this.limiter, (rate) => this.isShadow(rate), this.metrics.recordDecision);
  }

  onModuleDestroy(): void {
    this.metrics.close();
  }

  get ratesEnabled(): boolean {
    return this.options.ratesEnabled ?? true;
  }

  /** @throws RangeError when its options are invalid, or another route declares the name with different ones. */
  rate({ name, limit, windowMs }: NamedRateRule): Rate {
    const declared = `${limit} per ${windowMs} ms`;
    const known = this.rates.get(name);
    if (known) return requireSameDeclaration(name, known, declared).rate;
    const rate = this.limiter.define(name, { limit, windowMs, ...this.options.rateOptions?.[name] });
    this.rates.set(name, { declared, rate });
    return rate;
  }

  /** @throws RangeError when its limit is invalid, or another route declares the name with a different one. */
  cap({ name, limit, resource }: NamedCapRule): Cap {
    const declared = `${limit} ${resource}`;
    const known = this.caps.get(name);
    if (known) return requireSameDeclaration(name, known, declared).cap;
    const cap = this.ledger.define(name, { limit: this.options.capLimits?.[name] ?? limit, resource });
    this.caps.set(name, { declared, cap });
    return cap;
  }

  isShadow(name: string): boolean {
    return this.options.shadow?.includes(name) ?? false;
  }

  /** The state of a key's window. @throws RangeError when no route declares the rate. */
  peek(rate: string, key: string): WindowState | Promise<WindowState> {
    return this.limiter.peek(this.declaredRate(rate), key);
  }

  /** Deletes a key's window; returns false if there was none. @throws RangeError when no route declares the rate. */
  reset(rate: string, key: string): boolean | Promise<boolean> {
    return this.limiter.reset(this.declaredRate(rate), key);
  }

  private declaredRate(name: string): Rate {
    const known = this.rates.get(name);
    if (!known) throw new RangeError(`${name}: no route declares this rate.`);
    return known.rate;
  }
}

/** Routes that share a name share one budget, so they must agree on it: it must not depend on which one came first. */
function requireSameDeclaration<Known extends { declared: string }>(
  name: string,
  known: Known,
  declared: string,
): Known {
  if (known.declared === declared) return known;
  throw new RangeError(`${name}: two routes declare this rule differently: ${known.declared}, ${declared}.`);
}
