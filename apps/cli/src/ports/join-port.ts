import type { Readable, Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { printable } from '../terminal/printable.js';

/** The text frame after which a side sends no more bytes. */
const END = '{"end":true}';
const NORMAL_CLOSURE = 1000;
const ABNORMAL_CLOSURE = 1006;

/** This machine's side of a connection to a port. */
export interface LocalEnd {
  readonly input: Readable;
  readonly output: Writable;
  /** The guest sends no more bytes. May be called twice. */
  ended(): void;
  /** The connection has failed: some bytes are missing. */
  abort(): void;
}

/**
 * Copies the bytes between a port of a guest and this machine, and the end of each direction, until both have ended.
 * Each side is read as fast as the other one receives.
 * @param socket paused
 * @throws ClientError with the reason of the service when the connection fails
 */
export async function joinPort(socket: WebSocket, local: LocalEnd): Promise<void> {
  const { input, output } = local;
  await new Promise<void>((resolve, reject) => {
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary) return String(data) === END ? local.ended() : socket.close(1002);
      if (output.destroyed || output.write(data)) return;
      socket.pause();
      output.once('drain', () => socket.resume());
    });
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => {
      if (code === NORMAL_CLOSURE) {
        local.ended();
        return resolve();
      }
      local.abort();
      reject(failed(code, String(reason)));
    });
    input.on('data', (data: Buffer) => {
      if (socket.readyState !== socket.OPEN) return;
      input.pause();
      socket.send(data, { binary: true }, () => input.resume());
    });
    input.once('end', () => {
      if (socket.readyState === socket.OPEN) socket.send(END);
    });
    // Without an end, some bytes are missing: the service resets the connection to the guest.
    input.once('error', () => socket.terminate());
    input.once('close', () => {
      if (!input.readableEnded) socket.terminate();
    });
    // A connection that was closed while its socket was opened emits nothing any more.
    if (input.destroyed) return socket.terminate();
    input.resume();
    socket.resume();
  });
}

/** Ends a connection in order, when this side sends no more bytes and needs none. */
export function leavePort(socket: WebSocket): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(END);
  socket.close(NORMAL_CLOSURE);
}

const failed = (code: number, reason: string): ClientError =>
  new ClientError(
    'CONNECTION_FAILED',
    printable(reason) || 'The connection to the service was cut.',
    code === ABNORMAL_CLOSURE ? EXIT_CODES.unreachable : EXIT_CODES.failed,
  );
