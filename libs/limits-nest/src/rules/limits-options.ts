import type { CapLedger, RateStore, RateTerms } from '@headgate/limits-core';
import type { Registry } from 'prom-client';

/** How a process runs the rules that its routes declare. */
export interface LimitsOptions {
  /** False switches every rate off. Caps stay on. */
  readonly rates?: boolean;
  /** Other terms for a rate than its route declares, by its name. */
  readonly rateTerms?: Readonly<Record<string, Partial<RateTerms>>>;
  /** Other limits for a cap than its route declares, by its name. */
  readonly capLimits?: Readonly<Record<string, number>>;
  /** Rules, rates or caps, that are counted and reported but never refuse. */
  readonly shadow?: readonly string[];
  /** Where windows are kept: `new RateWindows()` when left out. */
  readonly store?: RateStore;
  readonly ledger?: CapLedger;
  /** Where the series go; none are kept when it is left out. */
  readonly registry?: Registry;
}

/** What `useClass` and `useExisting` of `forRootAsync` name. */
export interface LimitsOptionsFactory {
  createLimitsOptions(): LimitsOptions | Promise<LimitsOptions>;
}

/** What is decided before there are any providers. */
export interface LimitsModuleExtras {
  /** False: errors are left to the filters of the application, which then answers RateExceeded and CapExceeded itself. */
  readonly matrixErrors?: boolean;
}

export const LIMITS_OPTIONS = Symbol('LIMITS_OPTIONS');
