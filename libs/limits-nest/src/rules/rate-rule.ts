import type { RateOptions } from '@headgate/limits-core';
import { type LimitedRequest, statusOf } from '../http/http-route.js';
import type { RequestKey } from '../http/source-key.js';

/** A rate as declared on a route. */
export interface RateRule<Request extends LimitedRequest = LimitedRequest> extends RateOptions {
  /** The key that a request counts under; undefined if the rule does not apply to it. */
  readonly key: RequestKey<Request>;
  /**
   * `every` (the default): each request that has a key counts. `failures`: a request is reserved while it is in flight,
   * counts if it fails, and clears the key's history if it succeeds.
   */
  readonly counts?: 'every' | 'failures';
  /** Which failures count; by default those with status 403. */
  readonly isFailure?: (error: unknown) => boolean;
}

export interface NamedRateRule extends RateRule {
  readonly name: string;
}

export const countsEvery = ({ counts }: RateRule): boolean => counts !== 'failures';

/** The response of a Matrix homeserver to a wrong password. */
export const isForbidden = (error: unknown): boolean => statusOf(error) === 403;
