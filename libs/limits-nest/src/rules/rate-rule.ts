import type { RateTerms } from '@headgate/limits-core';
import type { LimitedRequest } from '../http/http-route.js';
import type { RequestKey } from '../http/source-key.js';
import { statusOf } from '../http/status-of.js';

/** A rate, as its route declares it. */
export interface RateRule<Request extends LimitedRequest = LimitedRequest> extends RateTerms {
  /** The key that a request counts under; undefined: it does not count. */
  readonly key: RequestKey<Request>;
  /**
   * `every`: each request that has a key counts. `failures`: a request counts when it fails, takes room while it is in
   * flight, and wipes the key's history when it succeeds. `every` when left out.
   */
  readonly counts?: 'every' | 'failures';
  /** Which failures count: those with status 403 when left out. */
  readonly isFailure?: (error: unknown) => boolean;
}

export interface NamedRateRule extends RateRule {
  readonly name: string;
}

/** Where the rules of a route, or of a whole controller, stand. */
const RATE_RULES = Symbol('RATE_RULES');

/** The rules on a handler or on a controller; those of the controllers that it extends are its own, too. */
export const rateRulesOn = (target: object): readonly NamedRateRule[] =>
  (Reflect.getMetadata(RATE_RULES, target) as readonly NamedRateRule[] | undefined) ?? [];

/** In the order in which they are read: `rule` stands above those that are there. */
export const addRateRule = (target: object, rule: NamedRateRule): void =>
  Reflect.defineMetadata(RATE_RULES, [rule, ...rateRulesOn(target)], target);

export const countsEvery = ({ counts }: RateRule): boolean => counts !== 'failures';

/** What a wrong password answers on a Matrix homeserver. */
export const isForbidden = (error: unknown): boolean => statusOf(error) === 403;
