import type { CapRefusal } from './cap.js';
import type { RateRefusal } from './rate.js';

/**
 * A refusal is an expected answer, not a fault. It has no stack: capturing one is most of the cost of refusing a flood.
 */
abstract class Refusal extends Error {
  protected constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A rate limit is exceeded: retry after `retryAfterMs`. */
export class RateExceeded extends Refusal {
  readonly rate: string;
  readonly retryAfterMs: number;

  constructor(refusal: Pick<RateRefusal, 'rate' | 'retryAfterMs'>) {
    super(`Too many requests: try again in ${seconds(refusal.retryAfterMs)}.`);
    this.name = 'RateExceeded';
    this.rate = refusal.rate;
    this.retryAfterMs = refusal.retryAfterMs;
  }
}

/** A cap is exceeded: waiting does not help, deleting something does. */
export class CapExceeded extends Refusal {
  readonly cap: string;
  readonly limit: number;

  constructor(refusal: Pick<CapRefusal, 'cap' | 'limit' | 'resource'>) {
    super(`The limit of ${refusal.limit} ${refusal.resource} is reached; waiting does not help, deleting some does.`);
    this.name = 'CapExceeded';
    this.cap = refusal.cap;
    this.limit = refusal.limit;
  }
}

function seconds(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms / 1000));
  return whole === 1 ? '1 second' : `${whole} seconds`;
}
