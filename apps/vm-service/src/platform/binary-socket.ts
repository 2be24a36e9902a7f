import type { WebSocket } from 'ws';

/**
 * A socket of a client whose binary frames carry the bytes of a connection. It is paused until the other side of the
 * connection is open.
 */
export abstract class BinarySocket {
  constructor(protected readonly socket: WebSocket) {
    socket.pause();
  }

  get buffered(): number {
    return this.socket.bufferedAmount;
  }

  /** @param sent called when the bytes have left, or never will */
  send(data: Buffer, sent: () => void): void {
    if (this.socket.readyState !== this.socket.OPEN) return sent();
    this.socket.send(data, { binary: true }, sent);
  }

  onClose(listener: () => void): void {
    if (this.socket.readyState >= this.socket.CLOSING) listener();
    else this.socket.once('close', listener);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(code: number, reason: string): void {
    // The close frame of the other side has to be read.
    this.resume();
    this.socket.close(code, reason);
  }
}
