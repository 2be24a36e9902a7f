import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * The response of a handler. Headers are name, value, name, value, so that those of an upstream pass through unchanged.
 */
export interface MatrixResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer | Readable;
  /** It comes from an upstream, which alone decides on the web pages that may read it. */
  readonly isForwarded?: boolean;
}

export function jsonResponse(status: number, body: unknown, headers: readonly string[] = []): MatrixResponse {
  return {
    status,
    headers: ['Content-Type', 'application/json', ...headers],
    body: Buffer.from(JSON.stringify(body), 'utf8'),
  };
}

/** 200 with a JSON body. */
export const ok = (body: unknown = {}): MatrixResponse => jsonResponse(200, body);

export const succeeded = ({ status }: MatrixResponse): boolean => status >= 200 && status < 300;

/** The response's JSON object; undefined when the body is a stream or not a JSON object. */
export function jsonBodyOf({ body }: MatrixResponse): Record<string, unknown> | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

const CORS: OutgoingHttpHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'X-Requested-With, Content-Type, Authorization',
  'Access-Control-Expose-Headers': 'Retry-After',
};

/** Without these headers, web clients see any response, even a refusal, as an unexplained network failure. */
export const corsHeaders: readonly string[] = Object.entries(CORS).flatMap(([name, value]) => [name, String(value)]);

const hasHeader = (headers: readonly string[], name: string): boolean =>
  headers.some((header, index) => index % 2 === 0 && header.toLowerCase() === name);

const SMALL_BODY_BYTES = 4096;

/** Writes a response. Streams are piped. */
export async function writeResponse(
  response: ServerResponse,
  { status, headers, body, isForwarded }: MatrixResponse,
): Promise<void> {
  const all = isForwarded ? [...headers] : [...headers, ...corsHeaders];
  if (Buffer.isBuffer(body)) {
    const hasLength = hasHeader(headers, 'content-length') || status === 204 || status === 304;
    response.writeHead(status, hasLength ? all : [...all, 'Content-Length', String(body.length)]);
    // Node sends a string in one packet with the head, and a buffer in a second one.
    if (body.length <= SMALL_BODY_BYTES) response.end(body.toString('latin1'), 'latin1');
    else response.end(body);
    return;
  }
  response.writeHead(status, all);
  await pipeBody(body, response);
}

/** Like `pipeline` of Node, without its abort signal per response, which takes 5 % of a proxy's time. */
function pipeBody(body: Readable, response: ServerResponse): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  body.once('error', reject);
  response.once('error', reject);
  response.once('close', () => {
    if (!response.writableFinished) body.destroy();
    resolve();
  });
  body.once('close', () => {
    if (!body.readableEnded) reject(new Error('the body ended early'));
  });
  body.pipe(response);
  return promise;
}
