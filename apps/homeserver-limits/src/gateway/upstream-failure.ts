import { failureStatusOf } from '@headgate/http-relay';
import { MatrixError } from '@headgate/matrix-protocol';

const MESSAGES = {
  502: 'The homeserver cannot be reached.',
  503: 'Too many requests wait for the homeserver. Try again later.',
  504: 'The homeserver did not respond in time.',
} as const;

/**
 * A failure of the upstream as the caller receives it: 504 for a timeout, 503 when too many wait for it, 502 for
 * anything else.
 */
export function upstreamFailure(error: unknown): MatrixError {
  if (error instanceof MatrixError) return error;
  const status = failureStatusOf(error);
  return new MatrixError(status, 'M_UNKNOWN', MESSAGES[status], { cause: error });
}

/** @throws MatrixError */
export function failUpstream(error: unknown): never {
  throw upstreamFailure(error);
}
