import { CLOSE_CODES, type PortClient } from '@headgate/consoles';
import type { RawData } from 'ws';
import { BinarySocket } from '../platform/binary-socket.js';

/** The text frame after which a side sends no more bytes. */
const END = '{"end":true}';

/**
 * The socket of a client of a port. Binary frames carry the bytes of the connection. A WebSocket has no half-close, so
 * a text frame takes its place. Bytes that arrive before the guest has answered wait for it.
 */
export class SocketPort extends BinarySocket implements PortClient {
  private readonly ended = new Set<() => void>();

  sendEnd(): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(END);
  }

  onData(listener: (data: Buffer) => void): void {
    this.socket.on('message', (data: RawData, binary: boolean) => {
      if (binary) listener(data as Buffer);
      else if (String(data) === END) for (const end of this.ended) end();
      else this.close(CLOSE_CODES.protocol, `A text frame can only be ${END}.`);
    });
  }

  onEnd(listener: () => void): void {
    this.ended.add(listener);
  }
}
