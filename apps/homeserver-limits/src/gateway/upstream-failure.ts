import { MatrixError } from '@headgate/matrix-protocol';

/** The upstream was idle for too long, or took too long altogether. */
export class UpstreamTimeout extends Error {
  override name = 'UpstreamTimeout';

  constructor() {
    super('the upstream did not respond in time');
  }
}

/** Too many requests wait for a connection to the upstream. */
export class UpstreamBusy extends Error {
  override name = 'UpstreamBusy';

  constructor() {
    super('too many requests wait for a connection to the upstream');
  }
}

/** The upstream sent something that is not a response. */
export class InvalidUpstreamResponse extends Error {
  override name = 'InvalidUpstreamResponse';
}

/** A failure of the upstream as the caller receives it: 504 for a timeout, 503 when too many wait for it, 502 for anything else. */
export function upstreamFailure(error: unknown): MatrixError {
  if (error instanceof MatrixError) return error;
  const cause = { cause: error };
  if (error instanceof UpstreamBusy)
    return new MatrixError(503, 'M_UNKNOWN', 'Too many requests wait for the homeserver. Try again later.', cause);
  return error instanceof UpstreamTimeout
    ? new MatrixError(504, 'M_UNKNOWN', 'The homeserver did not respond in time.', cause)
    : new MatrixError(502, 'M_UNKNOWN', 'The homeserver cannot be reached.', cause);
}

/** The statuses of `upstreamFailure`. */
export type FailureStatus = 502 | 503 | 504;

export function failureStatus({ status }: MatrixError): FailureStatus {
  return status === 503 || status === 504 ? status : 502;
}

/** @throws MatrixError */
export function failUpstream(error: unknown): never {
  throw upstreamFailure(error);
}
