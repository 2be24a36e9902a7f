import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MatrixError } from '@headgate/matrix-protocol';
import { BlockBuffer } from './block-buffer.js';
import type { BodyBudget, BufferedBody } from './body-budget.js';
import { releaseBytes } from './release-bytes.js';

/** How much of a refused body is discarded so that the client receives the refusal, before the connection is closed. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 5_000;

export const tooLarge = (limit: number): MatrixError =>
  MatrixError.tooLarge(`The body is larger than ${limit} bytes, the maximum for this endpoint.`);

export const declaredLength = (request: IncomingMessage): number | undefined => {
  const declared = request.headers['content-length'];
  return declared === undefined ? undefined : Number(declared);
};

/** Asks a client that sent `Expect: 100-continue` for its body. */
export function requestBody(request: IncomingMessage, response: ServerResponse): void {
  if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
}

export interface ReadBodyOptions {
  readonly limit: number;
  readonly budget: BodyBudget;
  /** Receives each chunk as it arrives. An error that it throws refuses the body. */
  readonly inspect?: ((chunk: Buffer) => void) | undefined;
}

/**
 * Reads a body of at most `limit` bytes. Its memory counts for the budget until the response has ended.
 * @throws MatrixError M_TOO_LARGE, from the declared length or while reading; 503 when the budget is exhausted
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limit, budget, inspect }: ReadBodyOptions,
): Promise<Buffer> {
  const declared = declaredLength(request);
  if ((declared ?? 0) > limit) throw tooLarge(limit);
  requireClient(request);
  requestBody(request, response);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const buffer = new BlockBuffer((bytes) => body.grow(bytes));
  const refuse = (error: unknown) => {
    request.pause();
    request.removeAllListeners('data');
    buffer.drop();
    reject(error);
  };
  const body = budget.open(refuse);
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) return refuse(tooLarge(limit));
    try {
      inspect?.(chunk);
      buffer.append(chunk, declared === undefined ? length : declared - (length - chunk.length));
    } catch (error) {
      refuse(error);
    }
    releaseBytes(chunk);
  });
  request.once('end', () => {
    body.complete();
    resolve();
  });
  request.once('error', reject);
  // Every request closes; it is an error only before the end of the body.
  request.once('close', () => {
    if (!request.readableEnded) reject(new ClientGone());
  });
  try {
    await promise;
  } catch (error) {
    buffer.drop();
    body.release();
    throw error;
  }
  releaseWith(request.socket, response, body);
  return buffer.take();
}

/** The complete bodies of the requests on a connection. */
const bodiesOf = new WeakMap<Socket, Set<BufferedBody>>();

/**
 * Releases a body when its response ends, or with its connection: when a CONNECT follows on the same connection, Node
 * closes the connection but none of its responses.
 */
function releaseWith(socket: Socket, response: ServerResponse, body: BufferedBody): void {
  if (response.closed || socket.closed) return body.release();
  const bodies = bodiesOf.get(socket) ?? new Set();
  if (!bodiesOf.has(socket)) {
    bodiesOf.set(socket, bodies);
    socket.once('close', () => {
      for (const open of bodies) open.release();
    });
  }
  bodies.add(body);
  response.once('close', () => {
    bodies.delete(body);
    body.release();
  });
}

/** The caller hung up, so there is no one to respond to. */
export class ClientGone extends Error {
  override name = 'ClientGone';
}

/** A destroyed request emits no further events, so it has to be checked before listening. @throws ClientGone */
export function requireClient(request: IncomingMessage): void {
  if (request.destroyed) throw new ClientGone();
}

/**
 * Discards the rest of a refused body, so that the client receives the refusal, and closes the connection when the rest
 * is too large or too slow.
 */
export function drain(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return;
  request.unpipe();
  let remaining = DRAIN_BYTES;
  const timer = setTimeout(() => request.socket.destroy(), DRAIN_MS);
  timer.unref();
  request.on('data', (chunk: Buffer) => {
    remaining -= chunk.length;
    releaseBytes(chunk);
    if (remaining < 0) request.socket.destroy();
  });
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.resume();
}
