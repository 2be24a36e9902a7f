import type { ClientRequest } from 'node:http';
import type { Readable } from 'node:stream';
import { ClientGone, releaseBytes } from '@headgate/homeserver-contracts';
import { BodyPace } from '@headgate/http-relay';
import { MatrixError } from '@headgate/matrix-protocol';

const CHECK_INTERVAL_MS = 5_000;

/**
 * Resolves when the first bytes of a body have arrived, or when it has ended without any.
 * @throws the error with which it broke off, or ClientGone
 */
export async function untilBegun(body: Readable): Promise<void> {
  if (body.readableLength === 0 && !body.readableEnded && !body.destroyed) await nextOf(body, EVENTS);
  if (body.destroyed && !body.readableEnded) throw body.errored ?? new ClientGone();
}

const EVENTS = ['readable', 'end', 'error', 'close'];

function nextOf(body: Readable, events: readonly string[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const settle = () => {
    for (const event of events) body.off(event, settle);
    resolve();
  };
  for (const event of events) body.on(event, settle);
  return promise;
}

/**
 * Sends a body like `pipe`, but frees each chunk once it is sent.
 * @param refuse receives 408 when the body hardly arrives while it holds a connection to the upstream
 */
export function sendBody(body: Readable, outgoing: ClientRequest, refuse: (error: MatrixError) => void): void {
  const pace = new BodyPace();
  pace.begin(performance.now());
  const timer = setInterval(() => {
    if (!pace.isTooSlow(performance.now(), body.isPaused())) return;
    refuse(new MatrixError(408, 'M_UNKNOWN', 'The request took too long to arrive.'));
    outgoing.destroy();
  }, CHECK_INTERVAL_MS).unref();
  outgoing.once('close', () => clearInterval(timer));
  body.on('data', (chunk: Buffer) => {
    pace.add(chunk.length);
    if (!outgoing.write(chunk, () => releaseBytes(chunk))) body.pause();
  });
  outgoing.on('drain', () => {
    pace.resume(performance.now());
    body.resume();
  });
  const end = () => {
    clearInterval(timer);
    outgoing.end();
  };
  if (body.readableEnded) end();
  else body.once('end', end);
}
