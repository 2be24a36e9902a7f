import type { IncomingMessage, ServerResponse } from 'node:http';
import { MatrixError } from '@headgate/matrix-protocol';

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

/** Reads a body of at most `limit` bytes. @throws MatrixError M_TOO_LARGE, from the declared length or while reading */
export async function readBody(request: IncomingMessage, response: ServerResponse, limit: number): Promise<Buffer> {
  if ((declaredLength(request) ?? 0) > limit) throw tooLarge(limit);
  requireClient(request);
  requestBody(request, response);
  const chunks: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else {
        request.pause();
        request.removeAllListeners('data');
        reject(tooLarge(limit));
      }
    });
    request.once('end', resolve);
    request.once('error', reject);
    // Every request closes; it is an error only before the end of the body.
    request.once('close', () => {
      if (!request.readableEnded) reject(new ClientGone());
    });
  });
  return Buffer.concat(chunks);
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
 * Discards the rest of a refused body, so that the client receives the refusal, and closes the connection when the rest is too
 * large or too slow.
 */
export function drain(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return;
  request.unpipe();
  let remaining = DRAIN_BYTES;
  const timer = setTimeout(() => request.socket.destroy(), DRAIN_MS);
  timer.unref();
  request.on('data', (chunk: Buffer) => {
    remaining -= chunk.length;
    if (remaining < 0) request.socket.destroy();
  });
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.resume();
}
