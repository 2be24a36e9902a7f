import { DomainError, type DomainErrorOptions, type ErrorCode, type InstanceRef } from '@headgate/domain-contracts';

/** An error response of the API server, as it was sent. */
export interface ApiResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The Status object's reason, such as `AlreadyExists`; empty for plain text. */
  readonly reason: string;
  /** The server's message, unchanged. */
  readonly text: string;
  /** When the server wants the request again; absent when it does not say. */
  readonly retryAfterMs?: number;
}

/** A DomainError that keeps the API server's response, for the few callers that have to inspect it. */
export class KubeApiError extends DomainError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly response: ApiResponse,
    options?: DomainErrorOptions,
  ) {
    super(code, message, options);
  }

  static has(error: unknown, status: number): error is KubeApiError {
    return error instanceof KubeApiError && error.response.status === status;
  }
}

/** 404 of an object, not of an API that is not served. */
export const isNotFound = (error: unknown): boolean => KubeApiError.has(error, 404) && error.code !== 'NOT_SUPPORTED';

/** 404 in plain text: the API group or the CRD is not installed. */
export const isApiNotServed = (error: unknown): boolean =>
  KubeApiError.has(error, 404) && error.code === 'NOT_SUPPORTED';

/** No response arrived: the server may or may not have carried out the request. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');

/**
 * Whether a request that failed may have been carried out: no response arrived, or the server has failed while it did.
 */
export const mayBeDone = (error: unknown): boolean =>
  isOutcomeUnknown(error) || (error instanceof KubeApiError && error.response.status >= 500);

/** Whether a read that failed may succeed later: the server does not answer, fails, or is overloaded. */
export const isPassing = (error: unknown): boolean => mayBeDone(error) || KubeApiError.has(error, 429);

/** The connection ended before the whole response had arrived. */
export const isConnectionCut = (error: unknown): boolean =>
  DomainError.is(error, 'BACKEND_UNREACHABLE') &&
  ['ECONNRESET', 'EPIPE'].includes((error.cause as NodeJS.ErrnoException | undefined)?.code ?? '');

/** The object with that name has another uid than the precondition demands. */
export const isPreconditionFailed = (error: unknown): error is KubeApiError =>
  KubeApiError.has(error, 409) && /(UID|ResourceVersion) in (the )?precondition/i.test(error.response.text);

/** Another client changed the object in the meantime; the same request may succeed when it is sent again. */
export const isWriteConflict = (error: unknown): boolean =>
  KubeApiError.has(error, 409) && error.code === 'CONFLICT' && !isPreconditionFailed(error);

export const instanceNotFound = ({ kind, context, namespace, name }: InstanceRef): DomainError =>
  new DomainError(
    'INSTANCE_NOT_FOUND',
    `There is no ${kind === 'vm' ? 'VM' : 'container'} ${name} in the namespace ${namespace} of ${context}.`,
  );
