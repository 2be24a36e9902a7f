import { MatrixError } from '@headgate/matrix-protocol';

/** The upstream was silent for too long, or took too long altogether. */
export class UpstreamSilent extends Error {
  override name = 'UpstreamSilent';

  constructor() {
    super('the upstream did not answer in time');
  }
}

/** What came was no answer. */
export class UpstreamGarbled extends Error {
  override name = 'UpstreamGarbled';
}

/** A failure of the upstream as the caller gets to see it: 504 for silence, 502 for anything else. */
export function upstreamFailure(error: unknown): MatrixError {
  if (error instanceof MatrixError) return error;
  const cause = { cause: error };
  return error instanceof UpstreamSilent
    ? new MatrixError(504, 'M_UNKNOWN', 'The homeserver does not answer in time.', {}, cause)
    : new MatrixError(502, 'M_UNKNOWN', 'The homeserver cannot be reached.', {}, cause);
}

/** @throws MatrixError */
export function failUpstream(error: unknown): never {
  throw upstreamFailure(error);
}
