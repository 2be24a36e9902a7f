import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { nodeResponse } from '../http/http-route.js';
import { type Reply, retryAfterSeconds, setExposedHeaders } from '../http/reply.js';
import { toMatrixError } from './to-matrix-error.js';

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
      setExposedHeaders(reply, { 'Retry-After': retryAfterSeconds(waitMs) });
    }
    reply.status(error.status).send(error.body());
  }
}
