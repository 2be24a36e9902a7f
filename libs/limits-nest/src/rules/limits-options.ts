import type { CapLedger, RateLimiter, RateOptions } from '@headgate/limits-core';
import type { Registry } from 'prom-client';

/** How a process applies the rules that its routes declare. */
export interface LimitsOptions {
  /** False disables all rates. Caps stay enabled. */
  readonly ratesEnabled?: boolean;
  /** Overrides the limit or window that a route declares for a rate, by the rate's name. */
  readonly rateOptions?: Readonly<Record<string, Partial<RateOptions>>>;
  /** Overrides the limit that a route declares for a cap, by the cap's name. */
  readonly capLimits?: Readonly<Record<string, number>>;
  /** Names of rates and caps that count and report, but never refuse. */
  readonly shadow?: readonly string[];
  /** Counts the events; `new MemoryRateLimiter()` by default. */
  readonly limiter?: RateLimiter;
  readonly ledger?: CapLedger;
  /** Receives the metrics. Without it, none are recorded. */
  readonly registry?: Registry;
}

/** Implemented by the classes given to `useClass` and `useExisting` of `forRootAsync`. */
export interface LimitsOptionsFactory {
  createLimitsOptions(): LimitsOptions | Promise<LimitsOptions>;
}

/** Options that must be known before providers exist. */
export interface LimitsModuleExtras {
  /** False leaves errors to the application's filters, which then have to handle RateExceeded and CapExceeded. */
  readonly matrixErrors?: boolean;
}

export const LIMITS_OPTIONS = Symbol('LIMITS_OPTIONS');
