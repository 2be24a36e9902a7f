import { jsonResponse, type MatrixResponse } from '@headgate/homeserver-contracts';
import { RateExceeded } from '@headgate/limits-core';
import { rateRefusalBody, retryAfterSeconds, toMatrixError } from '@headgate/limits-nest';

/** A refusal of the upstream, passed on word for word. */
export class UpstreamRefusal extends Error {
  override name = 'UpstreamRefusal';

  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: readonly string[] = [],
  ) {
    super(`the upstream refused with ${status}`);
  }
}

/** The response to a request that failed with this error. */
export function errorResponse(error: unknown): MatrixResponse {
  if (error instanceof UpstreamRefusal) return jsonResponse(error.status, error.body, error.headers);
  if (error instanceof RateExceeded) return rateResponse(error);
  const refusal = toMatrixError(error);
  return jsonResponse(refusal.status, refusal.body());
}

/** The most frequent response during a flood, so it creates no further error. */
const rateResponse = (error: RateExceeded): MatrixResponse =>
  jsonResponse(429, rateRefusalBody(error), ['Retry-After', retryAfterSeconds(error.retryAfterMs)]);
