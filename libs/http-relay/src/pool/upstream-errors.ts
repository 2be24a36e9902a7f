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

/** 504: a timeout. 503: too many requests wait. 502: anything else, such as a refused connection. */
export type FailureStatus = 502 | 503 | 504;

/** The status with which the caller of a failed request is answered. */
export function failureStatusOf(error: unknown): FailureStatus {
  if (error instanceof UpstreamBusy) return 503;
  return error instanceof UpstreamTimeout ? 504 : 502;
}
