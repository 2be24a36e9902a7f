import type { CapLedger, RateLimiter, RateOptions } from '@headgate/limits-core';
import type { MetricsRegistry } from '../metrics/limit-metrics.js';
import type { DefaultRateRule } from './rate-rule.js';

/** How a process applies the rules that its routes declare. */
export interface LimitsOptions {
  /** False disables all rates. Caps stay enabled. */
  readonly ratesEnabled?: boolean;
  /** Rates of all routes, by name, except for routes with `@SkipRateLimit`. */
  readonly defaultRates?: Readonly<Record<string, DefaultRateRule>>;
  /** Overrides the limit or window that a route declares for a rate, by the rate's name. */
  readonly rateOptions?: Readonly<Record<string, Partial<RateOptions>>>;
  /** Overrides the limit that a route declares for a cap, by the cap's name. */
  readonly capLimits?: Readonly<Record<string, number>>;
  /** Names of rates and caps that count and report, but never refuse. */
  readonly shadow?: readonly string[];
  /**
   * Which responses have the headers `RateLimit` and `RateLimit-Policy`: refusals (the default), all, or none. `all`
   * reads the windows once more, which is a round trip with a shared limiter, and shows callers how many attempts they
   * have left.
   */
  readonly headers?: 'refusals' | 'all' | 'none';
  /** Counts the events; `new MemoryRateLimiter()` by default. */
  readonly limiter?: RateLimiter;
  readonly ledger?: CapLedger;
  /** Receives the metrics: a `Registry` of prom-client. Without it, none are recorded. */
  readonly registry?: MetricsRegistry;
}

/** Implemented by the classes given to `useClass` and `useExisting` of `forRootAsync`. */
export interface LimitsOptionsFactory {
  createLimitsOptions(): LimitsOptions | Promise<LimitsOptions>;
}

/** Options that must be known before providers exist. */
export interface LimitsModuleExtras {
  /** False keeps Nest's error format, and leaves all errors to the application's filters, if it has any. */
  readonly matrixErrors?: boolean;
}

export const LIMITS_OPTIONS = Symbol('LIMITS_OPTIONS');
