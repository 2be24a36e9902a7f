import {
  type Cap,
  CapLedger,
  MAX_LIMIT,
  MemoryRateLimiter,
  type Rate,
  type RateLimiter,
  type WindowState,
} from '@headgate/limits-core';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import { LimitMetrics } from '../metrics/limit-metrics.js';
import type { NamedCapRule } from './cap-rule.js';
import { LIMITS_OPTIONS, type LimitsOptions } from './limits-options.js';
import { RateEnforcer } from './rate-enforcer.js';
import type { DefaultRateRule, NamedRateRule, RequestLimit } from './rate-rule.js';

/** The rules of this application: those that routes declare, with the overrides of the options. */
@Injectable()
export class LimitRules implements OnModuleDestroy {
  readonly limiter: RateLimiter;
  readonly ledger: CapLedger;
  readonly metrics: LimitMetrics;
  readonly enforcer: RateEnforcer;
  /** The rules of all routes that do not skip them. */
  readonly defaultRates: readonly (DefaultRateRule & NamedRateRule)[];
  private readonly rates = new Map<string, { declared: string; limit: RequestLimit; rate: Rate }>();
  private readonly caps = new Map<string, { declared: string; cap: Cap }>();

  constructor(@Inject(LIMITS_OPTIONS) private readonly options: LimitsOptions) {
    this.limiter = options.limiter ?? new MemoryRateLimiter();
    this.defaultRates = Object.entries(options.defaultRates ?? {}).map(([name, rule]) => ({ ...rule, name }));
    this.ledger = options.ledger ?? new CapLedger();
    this.metrics = new LimitMetrics(options.registry, this.limiter);
    this.enforcer = new RateEnforcer(this.limiter, (rate) => this.isShadow(rate), this.metrics.recordDecision);
  }

  onModuleDestroy(): void {
    this.metrics.close();
  }

  get headers(): 'refusals' | 'all' | 'none' {
    return this.options.headers ?? 'refusals';
  }

  get ratesEnabled(): boolean {
    return this.options.ratesEnabled ?? true;
  }

  /** @throws RangeError when its options are invalid, or another route declares the name with different ones. */
  rate({ name, limit, windowMs }: NamedRateRule): Rate {
    const declared = `${typeof limit === 'number' ? limit : 'a function'} per ${windowMs} ms`;
    const known = this.rates.get(name);
    if (known && known.limit !== limit) throw differentDeclarations(name, known.declared, declared);
    if (known) return requireSameDeclaration(name, known, declared).rate;
    const initial = typeof limit === 'number' ? limit : MAX_LIMIT;
    const rate = this.limiter.define(name, { limit: initial, windowMs, ...this.options.rateOptions?.[name] });
    this.rates.set(name, { declared, limit, rate });
    return rate;
  }

  /**
   * The limit of a rule for one request; undefined if it is that of the rate.
   * @throws RangeError when a function returns something other than a whole number of at least 1
   */
  limitFor({ name, limit }: NamedRateRule, request: LimitedRequest): number | undefined | Promise<number | undefined> {
    if (typeof limit === 'number' || this.options.rateOptions?.[name]?.limit !== undefined) return undefined;
    const resolved = limit(request);
    return resolved instanceof Promise
      ? resolved.then((value) => this.noteLimit(name, value))
      : this.noteLimit(name, resolved);
  }

  /** Keys at the rate's own limit are never evicted from memory, so that one is the smallest limit of all requests. */
  private noteLimit(name: string, limit: number): number {
    const rate = this.declaredRate(name);
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
      throw new RangeError(`${name}: the limit must be a whole number from 1 to ${MAX_LIMIT}, not ${limit}.`);
    }
    if (limit < rate.limit) this.limiter.define(name, { limit, windowMs: rate.windowMs });
    return limit;
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

  /**
   * Subtracts items that a holder no longer holds, like `@Frees`.
   * @throws RangeError when no route declares the cap.
   */
  free(cap: string, holder: string, amount = 1): void {
    this.ledger.free(this.declaredCap(cap), holder, amount);
  }

  /** @throws RangeError when no route declares the cap. */
  declaredCap(name: string): Cap {
    const known = this.caps.get(name);
    if (!known) throw new RangeError(`${name}: no route declares this cap.`);
    return known.cap;
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
  throw differentDeclarations(name, known.declared, declared);
}

const differentDeclarations = (name: string, one: string, other: string): RangeError =>
  new RangeError(`${name}: two routes declare this rule differently: ${one}, ${other}.`);
