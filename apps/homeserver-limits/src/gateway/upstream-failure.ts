import { MatrixError } from '@headgate/matrix-protocol';

/** The upstream was idle for too long, or took too long altogether. */
export class UpstreamTimeout extends Error {
  override name = 'UpstreamTimeout';

  constructor() {
    super('the upstream did not respond in time');
  }
}

/** The upstream sent something that is not a response. */
export class InvalidUpstreamResponse extends Error {
  override name = 'InvalidUpstreamResponse';
}

/** A failure of the upstream as the caller receives it: 504 for a timeout, 502 for anything else. */
export function upstreamFailure(error: unknown): MatrixError {
  if (error instanceof MatrixError) return error;
  const cause = { cause: error };
  return error instanceof UpstreamTimeout
    ? new MatrixError(504, 'M_UNKNOWN', 'The homeserver did not respond in time.', cause)
    : new MatrixError(502, 'M_UNKNOWN', 'The homeserver cannot be reached.', cause);
}

/** @throws MatrixError */
export function failUpstream(error: unknown): never {
  throw upstreamFailure(error);
}
