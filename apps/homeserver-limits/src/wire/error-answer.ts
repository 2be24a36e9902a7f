import { RateExceeded } from '@headgate/limits-core';
import { rateRefusalBody, retryAfterSeconds, toMatrixError } from '@headgate/limits-nest';
import { type Answer, jsonAnswer } from './answer.js';

/** A refusal that another server has written already, handed on word for word. */
export class ForeignRefusal extends Error {
  override name = 'ForeignRefusal';

  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: readonly string[] = [],
  ) {
    super(`another server refused with ${status}`);
  }
}

/** The answer that a failure makes. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof ForeignRefusal) return jsonAnswer(error.status, error.body, error.headers);
  if (error instanceof RateExceeded) return rateAnswer(error);
  const refusal = toMatrixError(error);
  return jsonAnswer(refusal.status, refusal.body());
}

/** What a flood makes most of, so without an error on the way. */
const rateAnswer = (error: RateExceeded): Answer =>
  jsonAnswer(429, rateRefusalBody(error), ['Retry-After', retryAfterSeconds(error.retryAfterMs)]);
