import type { ServerResponse } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';

/** What a rule may look at: the request of Fastify or of Express, after all guards that ran before. */
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
 * @throws TypeError in any other context: a socket or a GraphQL field has no answer of its own that could be a refusal.
 */
export function httpRoute(context: ExecutionContext): { request: LimitedRequest; response: ServerResponse } {
  const kind = context.getType<string>();
  if (kind !== 'http') {
    const route = `${context.getClass().name}.${context.getHandler().name}`;
    throw new TypeError(`${route}: @Limited and @Capped bound HTTP routes; this is ${kind}.`);
  }
  const http = context.switchToHttp();
  return { request: http.getRequest<LimitedRequest>(), response: nodeResponse(http.getResponse<object>()) };
}
