import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** What a handler answers. Headers are name, value, name, value, so that an upstream's pass through as they came. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer | Readable;
}

export function jsonAnswer(status: number, body: unknown, headers: readonly string[] = []): Answer {
  return {
    status,
    headers: ['Content-Type', 'application/json', ...headers],
    body: Buffer.from(JSON.stringify(body), 'utf8'),
  };
}

/** 200 with a JSON body, what most endpoints answer. */
export const ok = (body: unknown = {}): Answer => jsonAnswer(200, body);

/** The answer's JSON object; undefined when it is streamed or no JSON object. */
export function answeredObject({ body }: Answer): Record<string, unknown> | undefined {
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

/** Web clients see an answer without these, a refusal too, as an unexplained network failure. */
export const corsHeaders: readonly string[] = Object.entries(CORS).flatMap(([name, value]) => [name, String(value)]);

const hasHeader = (headers: readonly string[], name: string): boolean =>
  headers.some((header, index) => index % 2 === 0 && header.toLowerCase() === name);

const SMALL_BODY_BYTES = 4096;

/** Writes an answer, streaming what streams. */
export async function writeAnswer(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  const all = hasHeader(headers, 'access-control-allow-origin') ? [...headers] : [...headers, ...corsHeaders];
  if (Buffer.isBuffer(body)) {
    const hasLength = hasHeader(headers, 'content-length') || status === 204 || status === 304;
    response.writeHead(status, hasLength ? all : [...all, 'Content-Length', String(body.length)]);
    // As a text it leaves in one piece with the head; as bytes it would take a second.
    if (body.length <= SMALL_BODY_BYTES) response.end(body.toString('latin1'), 'latin1');
    else response.end(body);
    return;
  }
  response.writeHead(status, all);
  await pour(body, response);
}

/**
 * Streams a body to its end. Node's own pipeline would do, but it makes and aborts a signal for each answer, which costs a
 * proxy a twentieth of its time.
 */
function pour(body: Readable, response: ServerResponse): Promise<void> {
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
