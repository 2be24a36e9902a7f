import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { Clock } from '@headgate/domain-contracts';
import { afterRunning } from './after-running.js';
import type { Endpoint } from './kube-credentials.js';

export interface HttpRequest {
  readonly method: string;
  /** Path and query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How long to wait for the response headers, in the time in which this process runs. */
  readonly timeoutMs: number;
  /** The error to fail with when they do not arrive in time. */
  readonly onTimeout: () => Error;
  readonly signal?: AbortSignal;
}

/** The server had closed a kept connection before the request arrived, so a read can be sent again. */
const CLOSED_CONNECTION: readonly (string | undefined)[] = ['ECONNRESET', 'EPIPE'];

const isSafe = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD';

/**
 * Sends one request and returns the response as soon as its headers have arrived. A read that met a closed connection
 * of the pool is sent once more. Fails with the transport's own error.
 */
export function sendRequest(endpoint: Endpoint, clock: Clock, wanted: HttpRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let request: ClientRequest;
    const cancel = afterRunning(clock, wanted.timeoutMs, () => request.destroy(wanted.onTimeout()));
    const attempt = (options: RequestOptions, isRepeated: boolean): void => {
      request = openRequest(endpoint.url, options, wanted);
      request.once('response', (response) => {
        cancel();
        resolve(response);
      });
      request.once('error', (error: NodeJS.ErrnoException) => {
        const wasKept = request.reusedSocket && CLOSED_CONNECTION.includes(error.code);
        if (wasKept && isSafe(wanted) && !isRepeated) return attempt(endpoint.unpooled, true);
        cancel();
        reject(error);
      });
      request.end(wanted.body);
    };
    attempt(endpoint.options, false);
  });
}

function openRequest(url: URL, options: RequestOptions, { path, method, headers, body, signal }: HttpRequest) {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return send({
    ...options,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    // A proxy such as Rancher's serves the API under a path.
    path: `${url.pathname.replace(/\/$/, '')}${path}`,
    method,
    headers: {
      ...options.headers,
      ...headers,
      ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    },
    signal,
  });
}

export interface BodyLimits {
  readonly timeoutMs: number;
  /** The error to fail with when the body is not complete by then. */
  readonly onTimeout: () => Error;
  /** Default: unlimited. */
  readonly maxBytes?: number;
  readonly onTooLarge?: () => Error;
}

/** Reads the whole body as text. Fails when it exceeds a limit, or when the connection is cut. */
export function readBody(
  response: IncomingMessage,
  clock: Clock,
  { timeoutMs, onTimeout, maxBytes = Infinity, onTooLarge }: BodyLimits,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const cancel = afterRunning(clock, timeoutMs, () => response.destroy(onTimeout()));
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) response.destroy(onTooLarge?.() ?? new Error(`The body exceeds ${maxBytes} bytes.`));
      else chunks.push(chunk);
    });
    response.once('end', () => {
      cancel();
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
    response.once('error', (error) => {
      cancel();
      reject(error);
    });
    response.once('close', () => {
      cancel();
      reject(new Error('the response was cut off'));
    });
  });
}
