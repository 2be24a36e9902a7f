import type { ServerResponse } from 'node:http';
import { type ExecutionContext, HttpException } from '@nestjs/common';

/** The request of Fastify or Express, as left by the guards that ran before. */
export interface LimitedRequest {
  readonly ip?: string;
  readonly body?: unknown;
  readonly params?: unknown;
  readonly query?: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Node's response: Fastify wraps it, Express extends it. */
export const nodeResponse = (response: { raw?: ServerResponse }): ServerResponse =>
  response.raw ?? (response as ServerResponse);

/**
 * The request and Node's response of an HTTP route.
 * @throws TypeError in any other context: sockets and GraphQL fields have no response of their own to refuse with.
 */
export function httpRoute(context: ExecutionContext): { request: LimitedRequest; response: ServerResponse } {
  const type = context.getType<string>();
  if (type !== 'http') {
    const route = `${context.getClass().name}.${context.getHandler().name}`;
    throw new TypeError(`${route}: @RateLimit and @Capped only support HTTP routes, not ${type}.`);
  }
  const http = context.switchToHttp();
  return { request: http.getRequest<LimitedRequest>(), response: nodeResponse(http.getResponse<object>()) };
}

/** The HTTP status of an error (Nest's, Matrix's, Fastify's, http-errors'), if it has one. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (typeof error !== 'object' || error === null) return undefined;
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown };
  return [status, statusCode].find((code): code is number => Number.isInteger(code));
}
