import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '@headgate/domain-contracts';
import type { Endpoint } from './kube-credentials.js';

export interface Exchange {
  readonly method: string;
  /** Path and query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds until the answer's headers must be there. */
  readonly timeoutMs: number;
  /** What the exchange fails with when they are not. */
  readonly onTimeout: () => Error;
  readonly signal?: AbortSignal;
}

/** Sends one request and hands over the answer as soon as its headers are there. Fails with the transport's own error. */
export function exchange({ url, options }: Endpoint, clock: Clock, sent: Exchange): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send({
      ...options,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      // A proxy such as Rancher's puts the API server under a path.
      path: `${url.pathname.replace(/\/$/, '')}${sent.path}`,
      method: sent.method,
      headers: {
        ...options.headers,
        ...sent.headers,
        ...(sent.body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(sent.body)) }),
      },
      signal: sent.signal,
    });
    const cancel = clock.after(sent.timeoutMs, () => request.destroy(sent.onTimeout()));
    request.once('response', (response) => {
      cancel();
      resolve(response);
    });
    request.once('error', (error) => {
      cancel();
      reject(error);
    });
    request.end(sent.body);
  });
}

/** The whole body as text; fails when it stalls for `timeoutMs` or is cut. */
export function readText(
  response: IncomingMessage,
  clock: Clock,
  timeoutMs: number,
  onTimeout: () => Error,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const cancel = clock.after(timeoutMs, () => response.destroy(onTimeout()));
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
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
      reject(new Error('the answer was cut'));
    });
  });
}
