import type { CapRefusal } from './cap.js';
import type { RateRefusal } from './rate.js';

/**
 * A refusal is an answer, not a fault: it has no stack, whose taking would be most of what refusing a flood costs.
 */
abstract class Refusal extends Error {
  protected constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Too fast: come back in `retryAfterMs`. */
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

/** Too much: waiting does not help, making room does. */
export class CapExceeded extends Refusal {
  readonly cap: string;
  readonly limit: number;

  constructor(refusal: Pick<CapRefusal, 'cap' | 'limit' | 'what'>) {
    super(`No more than ${refusal.limit} ${refusal.what} are held; waiting does not help, removing some does.`);
    this.name = 'CapExceeded';
    this.cap = refusal.cap;
    this.limit = refusal.limit;
  }
}

function seconds(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms / 1000));
  return whole === 1 ? '1 second' : `${whole} seconds`;
}
