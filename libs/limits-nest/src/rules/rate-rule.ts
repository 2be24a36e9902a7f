import { type LimitedRequest, statusOf } from '../http/http-route.js';
import type { RequestKey } from '../http/source-key.js';

/** A number, or a function that returns it for a request. */
export type RequestLimit<Request extends LimitedRequest = LimitedRequest> =
  number | ((request: Request) => number | Promise<number>);

/** A rate as declared on a route. */
export interface RateRule<Request extends LimitedRequest = LimitedRequest> {
  /**
   * The events in each window. A function may return a different limit for each request, such as that of the user's
   * plan.
   */
  readonly limit: RequestLimit<Request>;
  readonly windowMs: number;
  /**
   * The key that a request counts under; undefined if the rule does not apply to it. Anything else but a string is a
   * 400.
   */
  readonly key: RequestKey<Request>;
  /**
   * `every` (the default): each request that has a key counts. `failures`: a request is reserved while it is in flight,
   * counts if it fails, and clears the key's history if it succeeds.
   */
  readonly counts?: 'every' | 'failures';
  /** Which failures count; by default those with status 403. */
  readonly isFailure?: (error: unknown) => boolean;
}

/** A rate that applies to all routes, except those with `@SkipRateLimit`. It counts every request. */
export interface DefaultRateRule extends Pick<RateRule, 'limit' | 'windowMs' | 'key'> {
  /** True gives each route its own budget; false, the default, limits all routes together. */
  readonly perRoute?: boolean;
}

export interface NamedRateRule extends RateRule {
  readonly name: string;
}

export const countsEvery = ({ counts }: Pick<RateRule, 'counts'>): boolean => counts !== 'failures';

/** The response of a Matrix homeserver to a wrong password. */
export const isForbidden = (error: unknown): boolean => statusOf(error) === 403;
