import type { Socket } from 'node:net';

const DISCARD_BYTES = 65_536;

/** Reads a socket in pieces of known lengths. It does not read ahead, so that a fast client has to wait. */
export class SocketReader {
  private notify: () => void = () => undefined;
  private isEnded = false;

  constructor(private readonly socket: Socket) {
    const wake = (): void => this.notify();
    const end = (): void => {
      this.isEnded = true;
      this.notify();
    };
    socket.on('readable', wake).once('end', end).once('close', end).on('error', end);
  }

  /** @returns undefined when the client has left before so many bytes arrived. @param length small, and at least 1 */
  async take(length: number): Promise<Buffer | undefined> {
    for (;;) {
      const data = this.socket.read(length) as Buffer | null;
      if (data?.length === length) return data;
      // At the end, the rest is returned even if it is shorter.
      if (data || this.isEnded || this.socket.destroyed) return undefined;
      await new Promise<void>((resolve) => (this.notify = resolve));
    }
  }

  /** Reads past data that is not wanted. @returns false when the client has left before */
  async skip(length: number): Promise<boolean> {
    for (let left = length; left > 0;) {
      const data = await this.take(Math.min(left, DISCARD_BYTES));
      if (!data) return false;
      left -= data.length;
    }
    return true;
  }
}
