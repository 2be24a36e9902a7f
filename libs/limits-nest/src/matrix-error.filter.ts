import { CapExceeded, RateExceeded } from '@headgate/limits-core';
import { type ErrCode, MatrixError } from '@headgate/matrix-protocol';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { statusOf } from './status-of.js';

interface Reply {
  header(name: string, value: string): unknown;
  status(code: number): { send(body: unknown): unknown };
}

const ERRCODES: Readonly<Record<number, ErrCode>> = {
  400: 'M_BAD_JSON',
  401: 'M_UNAUTHORIZED',
  403: 'M_FORBIDDEN',
  404: 'M_UNRECOGNIZED',
  405: 'M_UNRECOGNIZED',
  413: 'M_TOO_LARGE',
  414: 'M_INVALID_PARAM',
  415: 'M_NOT_JSON',
};

/** Turns whatever a route, a guard, a parser or the router throws into the one error form that Matrix clients know. */
@Catch()
export class MatrixErrorFilter implements ExceptionFilter {
  readonly #logger = new Logger(MatrixErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const error = toMatrixError(thrown);
    if (error.status >= 500)
      this.#logger.error('A request failed.', thrown instanceof Error ? thrown.stack : undefined);
    const reply = host.switchToHttp().getResponse<Reply>();
    const retryAfterMs = error.extra['retry_after_ms'];
    if (error.status === 429 && typeof retryAfterMs === 'number') {
      reply.header('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
      // Without it a browser hides the header from the script that is to wait.
      reply.header('Access-Control-Expose-Headers', 'Retry-After');
    }
    reply.status(error.status).send(error.body());
  }
}

/** A cap's refusal carries no hint to retry: waiting never resets it. */
export function toMatrixError(thrown: unknown): MatrixError {
  if (thrown instanceof MatrixError) return thrown;
  if (thrown instanceof RateExceeded) {
    const extra = { retry_after_ms: Math.max(1, Math.ceil(thrown.retryAfterMs)) };
    return new MatrixError(429, 'M_LIMIT_EXCEEDED', thrown.message, extra, { cause: thrown });
  }
  if (thrown instanceof CapExceeded) {
    return new MatrixError(400, 'M_LIMIT_EXCEEDED', thrown.message, {}, { cause: thrown });
  }
  const status = statusOf(thrown) ?? 500;
  if (status === 404 && thrown instanceof HttpException) return MatrixError.unrecognized();
  if (status >= 500 || !(thrown instanceof Error)) {
    return new MatrixError(status, 'M_UNKNOWN', 'Something went wrong on this server.', {}, { cause: thrown });
  }
  return new MatrixError(status, errcodeOf(thrown, status), thrown.message, {}, { cause: thrown });
}

function errcodeOf(error: Error, status: number): ErrCode {
  if (error instanceof SyntaxError || error.message.includes('not valid JSON')) return 'M_NOT_JSON';
  const { code } = error as { code?: unknown };
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || code === 'FST_ERR_CTP_EMPTY_JSON_BODY') return 'M_NOT_JSON';
  return ERRCODES[status] ?? 'M_UNKNOWN';
}
