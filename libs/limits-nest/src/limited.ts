import type { RateTerms } from '@headgate/limits-core';
import { UseGuards, UseInterceptors } from '@nestjs/common';
import { RateGuard } from './rate.guard.js';
import { RateOutcomeInterceptor } from './rate-outcome.interceptor.js';
import { RATE_RULES } from './rule-metadata.js';
import type { RequestKey } from './request-key.js';

/** A rate, as its route declares it. */
export interface RateRule extends RateTerms {
  /** The key that a request counts under; undefined: it does not count. */
  readonly key: RequestKey;
  /**
   * `every`: each request that has a key counts. `failures`: a request counts when it fails, takes room while it is in
   * flight, and wipes the key's history when it succeeds. `every` when left out.
   */
  readonly counts?: 'every' | 'failures';
  /** Which errors of the handler are failures that count: those with status 403 when left out. */
  readonly isFailure?: (error: unknown) => boolean;
}

export interface NamedRateRule extends RateRule {
  readonly name: string;
}

/**
 * Bounds how often a route is used. A route may have several rules: all of them let a request through, or none counts
 * it. Rules run after the global guards, so they may rely on who these have found the caller to be.
 * @throws RateExceeded, from the route, when a rule refuses.
 */
export function Limited(name: string, rule: RateRule): MethodDecorator {
  return (target, property, descriptor) => {
    const handler = descriptor.value as object;
    const rules = (Reflect.getMetadata(RATE_RULES, handler) ?? []) as NamedRateRule[];
    if (rules.length === 0) {
      UseGuards(RateGuard)(target, property, descriptor);
      UseInterceptors(RateOutcomeInterceptor)(target, property, descriptor);
    }
    Reflect.defineMetadata(RATE_RULES, [{ ...rule, name }, ...rules], handler);
  };
}
