import type { ServerResponse } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { nodeResponse } from '../http/http-route.js';
import { retryAfterSeconds, toMatrixError } from './to-matrix-error.js';

/** What Fastify's reply and Express's response have in common. */
interface Reply {
  readonly raw?: ServerResponse;
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
  status(code: number): { send(body: unknown): unknown };
}

const EXPOSED = 'Access-Control-Expose-Headers';

/** Turns whatever a route, a guard, a parser or the router throws into the one error form that Matrix clients know. */
@Catch()
export class MatrixErrorFilter implements ExceptionFilter {
  readonly #logger = new Logger(MatrixErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    // Sockets and GraphQL fields have error forms of their own.
    if (host.getType<string>() !== 'http') throw thrown;
    const error = toMatrixError(thrown);
    if (error.status >= 500)
      this.#logger.error('A request failed.', thrown instanceof Error ? thrown.stack : undefined);
    const reply = host.switchToHttp().getResponse<Reply>();
    const response = nodeResponse(reply);
    if (response.headersSent) {
      // Half an answer has left; only a broken connection still says that the rest will not come.
      response.destroy();
      return;
    }
    const wait = error.extra['retry_after_ms'];
    if (error.status === 429 && typeof wait === 'number') {
      reply.header('Retry-After', retryAfterSeconds(wait));
      // Without it a browser hides the header from the script that is to wait.
      reply.header(EXPOSED, [reply.getHeader(EXPOSED) ?? [], 'Retry-After'].flat().join(', '));
    }
    reply.status(error.status).send(error.body());
  }
}
