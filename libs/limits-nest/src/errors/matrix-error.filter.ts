import type { ServerResponse } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { nodeResponse } from '../http/http-route.js';
import { retryAfterSeconds, toMatrixError } from './to-matrix-error.js';

/** The common part of Fastify's reply and Express's response. */
interface Reply {
  readonly raw?: ServerResponse;
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
  status(code: number): { send(body: unknown): unknown };
}

const EXPOSE_HEADERS = 'Access-Control-Expose-Headers';

/** Converts every error of a route, a guard, a parser or the router into the standard Matrix error response. */
@Catch()
export class MatrixErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(MatrixErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    // Sockets and GraphQL fields have their own error formats.
    if (host.getType<string>() !== 'http') throw thrown;
    const error = toMatrixError(thrown);
    if (error.status >= 500) this.logger.error('A request failed.', thrown instanceof Error ? thrown.stack : undefined);
    const reply = host.switchToHttp().getResponse<Reply>();
    const response = nodeResponse(reply);
    if (response.headersSent) {
      // Part of the response was sent: only closing the connection still reports the failure.
      response.destroy();
      return;
    }
    const waitMs = error.extra['retry_after_ms'];
    if (error.status === 429 && typeof waitMs === 'number') {
      reply.header('Retry-After', retryAfterSeconds(waitMs));
      // Otherwise browsers hide the header from scripts.
      reply.header(EXPOSE_HEADERS, [reply.getHeader(EXPOSE_HEADERS) ?? [], 'Retry-After'].flat().join(', '));
    }
    reply.status(error.status).send(error.body());
  }
}
