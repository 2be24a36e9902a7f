import type { ApiError } from '../api-error.js';
import type { RequestContext } from './request-context.js';

/** The headers of every response. */
export function headersOf({ warnings }: RequestContext, contentType: string): Record<string, string | string[]> {
  return {
    'Content-Type': contentType,
    'Cache-Control': 'no-cache, private',
    'Audit-Id': crypto.randomUUID(),
    ...(warnings.length > 0 && { Warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`) }),
  };
}

export function sendJson(context: RequestContext, code: number, body: unknown, contentType = 'application/json'): void {
  const data = Buffer.from(JSON.stringify(body));
  context.response.writeHead(code, { ...headersOf(context, contentType), 'Content-Length': data.length });
  context.response.end(context.info.method === 'HEAD' ? undefined : data);
}

export function sendBytes(context: RequestContext, data: Buffer, contentType: string): void {
  context.response.writeHead(200, { ...headersOf(context, contentType), 'Content-Length': data.length });
  context.response.end(data);
}

export function sendText(context: RequestContext, code: number, text: string): void {
  const headers = { ...headersOf(context, 'text/plain; charset=utf-8'), 'X-Content-Type-Options': 'nosniff' };
  context.response.writeHead(code, { ...headers, 'Content-Length': Buffer.byteLength(text) });
  context.response.end(text);
}

/** The plain-text 404 of paths outside the served APIs. */
export function sendPathNotFound(context: RequestContext): void {
  sendText(context, 404, '404 page not found\n');
}

export function sendError(context: RequestContext, { status, plain }: ApiError): void {
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter !== undefined) context.response.setHeader('Retry-After', String(retryAfter));
  if (status.code === 401) context.response.setHeader('WWW-Authenticate', 'Bearer realm="kubernetes"');
  for (const [name, value] of Object.entries(plain?.headers ?? {})) context.response.setHeader(name, value);
  if (plain) return sendText(context, status.code, plain.text);
  sendJson(context, status.code, status);
}
