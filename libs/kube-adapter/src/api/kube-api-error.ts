import { DomainError, type DomainErrorOptions, type ErrorCode } from '@headgate/domain-contracts';

/** What the API server itself said. */
export interface KubeAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The Status object's reason, such as `AlreadyExists`; empty for plain text. */
  readonly reason: string;
  /** The server's own text, untouched. */
  readonly text: string;
}

/** A DomainError that still knows the API server's answer, for the few places that must look at it. */
export class KubeApiError extends DomainError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly answer: KubeAnswer,
    options?: DomainErrorOptions,
  ) {
    super(code, message, options);
  }

  static has(error: unknown, status: number): error is KubeApiError {
    return error instanceof KubeApiError && error.answer.status === status;
  }
}

/** 404 of an object, not of an API that is not served. */
export const isNotFound = (error: unknown): boolean => KubeApiError.has(error, 404) && error.code !== 'NOT_SUPPORTED';

/** 404 in plain text: the API's group or the CRD is not installed. */
export const isAbsentApi = (error: unknown): boolean => KubeApiError.has(error, 404) && error.code === 'NOT_SUPPORTED';

/** The request may have been carried out although no answer came. */
export const isUnanswered = (error: unknown): boolean =>
  DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');

/** The object of that name is not the one that was meant: its uid is another. */
export const isAnotherObject = (error: unknown): error is KubeApiError =>
  KubeApiError.has(error, 409) && /UID in (the )?precondition/i.test(error.answer.text);

/** Somebody wrote in between; the same request may succeed when it is sent again. */
export const isWriteConflict = (error: unknown): boolean =>
  KubeApiError.has(error, 409) && error.code === 'CONFLICT' && !isAnotherObject(error);
