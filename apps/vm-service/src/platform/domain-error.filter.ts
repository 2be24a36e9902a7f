import { Catch, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { ErrorView } from '@headgate/api-contracts';
import type { ErrorCode } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { STATUS } from './error-status.js';
import { rememberRefusal } from './refused-request.js';
import { LOGGER } from './tokens.js';
import { toDomainError } from './to-domain-error.js';

/** The status and body of an error response. Never contains a stack trace. */
export function errorBody(error: unknown): { status: number; body: ErrorView } {
  const { code, message, details } = toDomainError(error);
  return { status: STATUS[code], body: { error: message, code, ...(details === undefined ? {} : { details }) } };
}

/** Answers every error with the error body of the API. */
@Catch()
export class DomainErrorFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const { status, body } = errorBody(error);
    rememberRefusal(request, { code: body.code as ErrorCode, message: body.error });
    const fields = {
      requestId: request.id,
      method: request.method,
      path: pathOf(request.url),
      status,
      code: body.code,
    };
    // A stack trace helps with unexpected errors only; for an unreachable backend the reason is enough.
    if (body.code === 'INTERNAL') this.log.error({ ...fields, err: causeOf(error) }, 'request failed');
    else if (status >= 500) this.log.error({ ...fields, reason: body.error }, 'request failed');
    else this.log.debug(fields, 'request refused');
    // A stream that failed halfway can't be answered anymore.
    if (reply.sent || reply.raw.headersSent) return void reply.raw.destroy();
    void reply.status(status).header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
  }
}

/** The path without the query, which may hold data that must not be logged. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause ? error.cause : error);
