import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { ErrorView } from '@headgate/api-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { STATUS } from './error-status.js';
import { toDomainError } from './to-domain-error.js';

/** The body of an error's answer. Never a stack trace. */
export function errorBody(error: unknown): { status: number; body: ErrorView } {
  const { code, message, details } = toDomainError(error);
  return { status: STATUS[code], body: { error: message, code, ...(details === undefined ? {} : { details }) } };
}

/** Writes every failure in one form, whatever threw it. */
@Catch()
export class DomainErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const { status, body } = errorBody(error);
    const fields = {
      requestId: request.id,
      method: request.method,
      path: pathOf(request.url),
      status,
      code: body.code,
    };
    // A stack helps with what nobody foresaw; a backend that is away is one sentence.
    if (body.code === 'INTERNAL') this.log.error({ ...fields, err: causeOf(error) }, 'request failed');
    else if (status >= 500) this.log.error({ ...fields, reason: body.error }, 'request failed');
    else this.log.debug(fields, 'request refused');
    // A stream that broke in the middle can't be answered any more.
    if (reply.sent || reply.raw.headersSent) return void reply.raw.destroy();
    void reply.status(status).header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
  }
}

/** A query may carry what does not belong in a log. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause ? error.cause : error);
