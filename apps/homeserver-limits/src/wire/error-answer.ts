import { toMatrixError } from '@headgate/limits-nest';
import type { MatrixError } from '@headgate/matrix-protocol';
import { type Answer, jsonAnswer } from './answer.js';

/** A refusal that another server has written already, handed on word for word. */
export class ForeignRefusal extends Error {
  override name = 'ForeignRefusal';

  constructor(
    readonly status: number,
    readonly body: object,
  ) {
    super(`another server refused with ${status}`);
  }
}

/** The answer that a failure makes. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof ForeignRefusal) return jsonAnswer(error.status, error.body);
  const refusal = toMatrixError(error);
  return jsonAnswer(refusal.status, refusal.body(), retryAfter(refusal));
}

/** The header must never promise less than the body, so it is rounded up. */
function retryAfter({ status, extra }: MatrixError): string[] {
  const ms = extra.retry_after_ms;
  return status === 429 && typeof ms === 'number' ? ['Retry-After', String(Math.max(1, Math.ceil(ms / 1000)))] : [];
}
