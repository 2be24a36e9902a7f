import { CapExceeded, RateExceeded } from '@headgate/limits-core';
import { type ErrCode, MatrixError } from '@headgate/matrix-protocol';
import { HttpException } from '@nestjs/common';
import { statusOf } from '../http/status-of.js';

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

/** The body of a rate's refusal. */
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

/** The whole seconds of `Retry-After`: rounded up, so that the header never promises less than the body. */
export const retryAfterSeconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));

/** What an error says to a Matrix client. A cap's refusal carries no hint to retry: waiting never resets it. */
export function toMatrixError(thrown: unknown): MatrixError {
  if (thrown instanceof MatrixError) return thrown;
  if (thrown instanceof RateExceeded) {
    const { errcode, error, ...extra } = rateRefusalBody(thrown);
    return new MatrixError(429, errcode, error, extra, { cause: thrown });
  }
  if (thrown instanceof CapExceeded) {
    return new MatrixError(400, 'M_LIMIT_EXCEEDED', thrown.message, {}, { cause: thrown });
  }
  const status = statusOf(thrown) ?? 500;
  if (status === 404 && thrown instanceof HttpException) return MatrixError.unrecognized();
  if (status >= 500 || !(thrown instanceof Error)) {
    return new MatrixError(status, 'M_UNKNOWN', 'Something went wrong on this server.', {}, { cause: thrown });
  }
  return new MatrixError(status, errcodeOf(thrown, status), messageOf(thrown), {}, { cause: thrown });
}

function errcodeOf(error: Error, status: number): ErrCode {
  return isNotJson(error) || isNotJson(error.cause) ? 'M_NOT_JSON' : (ERRCODES[status] ?? 'M_UNKNOWN');
}

/** How the body parsers of Fastify and of Express say it; Nest wraps the latter. */
const NOT_JSON: readonly unknown[] = [
  'FST_ERR_CTP_INVALID_JSON_BODY',
  'FST_ERR_CTP_EMPTY_JSON_BODY',
  'entity.parse.failed',
];

function isNotJson(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, type } = error as { code?: unknown; type?: unknown };
  return error instanceof SyntaxError || NOT_JSON.includes(code) || NOT_JSON.includes(type);
}

/** Nest's validation says what is wrong in a list beside a message that says nothing. */
function messageOf(error: Error): string {
  const response: unknown = error instanceof HttpException ? error.getResponse() : undefined;
  const { message } = (typeof response === 'object' && response !== null ? response : error) as { message?: unknown };
  return Array.isArray(message) ? message.join('; ') : error.message;
}
