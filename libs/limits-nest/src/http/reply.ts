import type { ServerResponse } from 'node:http';

/** The common part of Fastify's reply and Express's response. */
export interface Reply {
  readonly raw?: ServerResponse;
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
  status(code: number): { send(body: unknown): unknown };
}

const EXPOSE_HEADERS = 'Access-Control-Expose-Headers';

/** Sets headers and exposes them to browsers, which would otherwise hide them from scripts. */
export function setExposedHeaders(reply: Reply, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  const exposed = [reply.getHeader(EXPOSE_HEADERS) ?? []].flat().flatMap((names) => String(names).split(/\s*,\s*/));
  reply.header(EXPOSE_HEADERS, [...new Set([...exposed, ...Object.keys(headers)])].join(', '));
}

/** The whole seconds of `Retry-After`, rounded up so that the header is never shorter than the wait in the body. */
export const retryAfterSeconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));
