import type { IncomingMessage, ServerResponse } from 'node:http';
import { MatrixError } from '@headgate/matrix-protocol';

/** How much of a refused body is read away so that the refusal arrives, before the connection is cut. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 5_000;

export const tooLarge = (limit: number): MatrixError =>
  MatrixError.tooLarge(`The body is larger than ${limit} bytes, the most that is taken here.`);

export const declaredLength = (request: IncomingMessage): number | undefined => {
  const declared = request.headers['content-length'];
  return declared === undefined ? undefined : Number(declared);
};

/** Tells a client that asked with `Expect: 100-continue` that its body is wanted. */
export function wantBody(request: IncomingMessage, response: ServerResponse): void {
  if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
}

/** Reads a body of at most `limit` bytes. @throws MatrixError M_TOO_LARGE, from the declared length or while reading */
export async function readBody(request: IncomingMessage, response: ServerResponse, limit: number): Promise<Buffer> {
  if ((declaredLength(request) ?? 0) > limit) throw tooLarge(limit);
  requireClient(request);
  wantBody(request, response);
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
    // Each request closes in the end; an error is made only where that came before its body did.
    request.once('close', () => {
      if (!request.readableEnded) reject(new ClientGone());
    });
  });
  return Buffer.concat(chunks);
}

/** The caller hung up; there is nobody to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone';
}

/** What was left of a body went with its client, and no event will tell any more. @throws ClientGone */
export function requireClient(request: IncomingMessage): void {
  if (request.destroyed) throw new ClientGone();
}

/**
 * Reads away what is left of a refused body, so that the client gets to read the refusal, and cuts the connection when
 * that is too much or takes too long.
 */
export function drain(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return;
  request.unpipe();
  let left = DRAIN_BYTES;
  const cut = setTimeout(() => request.socket.destroy(), DRAIN_MS);
  cut.unref();
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.socket.destroy();
  });
  request.once('close', () => clearTimeout(cut));
  request.once('end', () => clearTimeout(cut));
  request.resume();
}
