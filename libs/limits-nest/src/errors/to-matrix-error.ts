import { CapExceeded, RateExceeded } from '@headgate/limits-core';
import { type ErrCode, MatrixError } from '@headgate/matrix-protocol';
import { HttpException } from '@nestjs/common';
import { statusOf } from '../http/http-route.js';

const ERRCODES: Readonly<Record<number, ErrCode>> = {
  400: 'M_BAD_JSON',
  401: 'M_UNAUTHORIZED',
  403: 'M_FORBIDDEN',
  404: 'M_UNRECOGNIZED',
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

/** The whole seconds of `Retry-After`, rounded up so that the header is never shorter than the wait in the body. */
export const retryAfterSeconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));

/** Converts an error for Matrix clients. The refusal of a cap has no hint to retry: waiting never resets it. */
export function toMatrixError(thrown: unknown): MatrixError {
  if (thrown instanceof MatrixError) return thrown;
  if (thrown instanceof RateExceeded) {
    const { errcode, error, ...extra } = rateRefusalBody(thrown);
    return new MatrixError(429, errcode, error, { extra, cause: thrown });
  }
  if (thrown instanceof CapExceeded) {
    return new MatrixError(400, 'M_LIMIT_EXCEEDED', thrown.message, { cause: thrown });
  }
  const status = statusOf(thrown) ?? 500;
  if (status === 404 && thrown instanceof HttpException) return MatrixError.unrecognized();
  if (status >= 500 || !(thrown instanceof Error)) {
    return new MatrixError(status, 'M_UNKNOWN', 'Something went wrong on this server.', { cause: thrown });
  }
  return new MatrixError(status, errcodeOf(thrown, status), messageOf(thrown), { cause: thrown });
}

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

/** Nest's validation puts its findings into a list, next to a generic message. */
function messageOf(error: Error): string {
  const response: unknown = error instanceof HttpException ? error.getResponse() : undefined;
  const { message } = (typeof response === 'object' && response !== null ? response : error) as { message?: unknown };
  return Array.isArray(message) ? message.join('; ') : error.message;
}
