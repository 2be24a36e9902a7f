import { CapExceeded, RateExceeded } from '@headgate/limits-core';
import { type ErrCode, MatrixError } from '@headgate/matrix-protocol';
import { HttpException } from '@nestjs/common';
import { statusOf } from '../http/http-route.js';
import { CapExceededException, RateExceededException } from './limit-exceptions.js';

const ERRCODES: Readonly<Record<number, ErrCode>> = {
  400: 'M_BAD_JSON',
  401: 'M_UNAUTHORIZED',
  403: 'M_FORBIDDEN',
  404: 'M_NOT_FOUND',
  405: 'M_UNRECOGNIZED',
  413: 'M_TOO_LARGE',
  414: 'M_INVALID_PARAM',
  415: 'M_NOT_JSON',
  429: 'M_LIMIT_EXCEEDED',
};

/** The response body of a rate's refusal. */
export interface RateRefusalBody {
  readonly errcode: 'M_LIMIT_EXCEEDED';
  readonly error: string;
  readonly retry_after_ms: number;
}

export const rateRefusalBody = ({ message, retryAfterMs }: RateExceeded): RateRefusalBody => ({
  errcode: 'M_LIMIT_EXCEEDED',
  error: message,
  retry_after_ms: Math.max(1, Math.ceil(retryAfterMs)),
});

/** Converts an error for Matrix clients. The refusal of a cap has no hint to retry: waiting never resets it. */
export function toMatrixError(thrown: unknown): MatrixError {
  if (thrown instanceof MatrixError) return thrown;
  if (thrown instanceof RateExceededException || thrown instanceof CapExceededException) {
    return toMatrixError(thrown.refusal);
  }
  if (thrown instanceof RateExceeded) {
    const { errcode, error, ...extra } = rateRefusalBody(thrown);
    return new MatrixError(429, errcode, error, { extra, cause: thrown });
  }
  if (thrown instanceof CapExceeded) {
    return new MatrixError(400, 'M_LIMIT_EXCEEDED', thrown.message, { cause: thrown });
  }
  const status = statusOf(thrown) ?? 500;
  if (thrown instanceof HttpException) return fromHttpException(thrown, status);
  if (status >= 500 || !(thrown instanceof Error)) {
    return new MatrixError(status, 'M_UNKNOWN', 'Something went wrong on this server.', { cause: thrown });
  }
  return new MatrixError(status, errcodeOf(thrown, status), thrown.message, { cause: thrown });
}

/**
 * An exception that the application throws keeps its status, message and additional members, and its own errcode if it
 * has one.
 */
function fromHttpException(exception: HttpException, status: number): MatrixError {
  if (status === 404 && ROUTE_NOT_FOUND.test(exception.message)) return MatrixError.unrecognized();
  const response: unknown = exception.getResponse();
  const members = isRecord(response) ? response : {};
  const { errcode, error: _error, message: _message, statusCode: _statusCode, ...extra } = members;
  const code = typeof errcode === 'string' ? (errcode as ErrCode) : errcodeOf(exception, status);
  return new MatrixError(status, code, messageOf(exception, members), { extra, cause: exception });
}

/** How Nest's router reports an unknown path. */
const ROUTE_NOT_FOUND = /^Cannot [A-Z]+ \//;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function errcodeOf(error: Error, status: number): ErrCode {
  return isJsonError(error) || isJsonError(error.cause) ? 'M_NOT_JSON' : (ERRCODES[status] ?? 'M_UNKNOWN');
}

/** Codes of the body parsers of Fastify and of Express; Nest wraps the latter. */
const JSON_ERROR_CODES: readonly unknown[] = [
  'FST_ERR_CTP_INVALID_JSON_BODY',
  'FST_ERR_CTP_EMPTY_JSON_BODY',
  'entity.parse.failed',
];

function isJsonError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, type } = error as { code?: unknown; type?: unknown };
  return error instanceof SyntaxError || JSON_ERROR_CODES.includes(code) || JSON_ERROR_CODES.includes(type);
}

/**
 * A Matrix body has its text in `error`; Nest's is in `message`, which is a list of findings for a failed validation.
 */
function messageOf(
  { message: fallback }: Error,
  { errcode, error, message }: Readonly<Record<string, unknown>>,
): string {
  if (typeof errcode === 'string' && typeof error === 'string') return error;
  if (Array.isArray(message)) return message.join('; ');
  return typeof message === 'string' ? message : fallback;
}
