import { Duplex } from 'node:stream';
import { DomainError, type GuestConnection } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';

const NORMAL_CLOSURE = 1000;
const NO_CLOSE_CODE = 1005;

/**
 * The WebSocket of a port as a byte stream. It can't pass the end of the input alone, so `end` leaves it open: closing
 * it would lose what the guest still sends.
 */
export class PortSocket extends Duplex implements GuestConnection {
  private hasEnded = false;

  /** @param socket paused */
  constructor(private readonly socket: WebSocket) {
    super();
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary && !this.hasEnded && !this.push(data)) socket.pause();
    });
    socket.once('close', (code) => this.conclude(code));
    this.once('end', () => this.destroy());
  }

  /** The end of the connection is all that the cluster passes on. */
  reset(): void {
    this.socket.terminate();
    this.destroy();
  }

  override _read(): void {
    if (this.socket.isPaused || this.socket.readyState === this.socket.OPEN) this.socket.resume();
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // Completes when the data has left the process, so that a slow cluster slows down the writer.
    this.socket.send(data, { binary: true }, (error) => done(error ? cut(error.message, error) : null));
  }

  override _final(done: () => void): void {
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Nothing is read any more, except for the close frame of the other side; ws gives up after 30 s.
    this.hasEnded = true;
    this.socket.resume();
    this.socket.close(NORMAL_CLOSURE);
    done(error);
  }

  private conclude(code: number): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (code === NORMAL_CLOSURE || code === NO_CLOSE_CODE) this.push(null);
    else this.destroy(cut(`close code ${code}`));
  }
}

const cut = (why: string, cause?: Error): DomainError =>
  new DomainError('BACKEND_FAILED', `The connection to the guest was cut (${why}).`, { cause });
