import type { UpstreamRequest } from './upstream-client.js';

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** The upstream closed a kept connection just as it was used again. */
export const isStaleConnection = (error: unknown): boolean => {
  const { reusedSocket, code } = error as { reusedSocket?: boolean; code?: string };
  return reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
};

/** Whether a request whose outcome is not known may be sent again: its body is still there, and twice does what once does. */
export const mayRepeat = ({ method, body, repeatable = IDEMPOTENT.has(method) }: UpstreamRequest): boolean =>
  repeatable && (body === undefined || Buffer.isBuffer(body));
