import { connect, type Socket } from 'node:net';

const PART = Buffer.alloc(1024 * 1024, ' ');
/** Bodies are white space that ends with a transaction without events, so that they are read, parsed and passed on. */
const END = '{"pdus":[]}';

export interface FloodOptions {
  url: string;
  connections: number;
  /** The address that the connections come from. */
  localAddress: string;
}

/** Requests with large bodies, over and over, from callers without an account. */
export class Flood {
  /** How many bodies were sent to their end, or until the gateway closed the connection. */
  sent = 0;
  private isEnding = false;
  private readonly sockets = new Set<Socket>();

  constructor(private readonly options: FloodOptions) {}

  /**
   * Sends until `end` is called.
   * @param head the request line and header lines, with an end of line after each
   */
  async run(head: string, bodyBytes: number): Promise<void> {
    const one = async () => {
      while (!this.isEnding) {
        await this.send(head, bodyBytes);
        if (!this.isEnding) this.sent++;
      }
    };
    await Promise.all(Array.from({ length: this.options.connections }, one));
  }

  end(): void {
    this.isEnding = true;
    for (const socket of this.sockets) socket.destroy();
  }

  private async send(head: string, bodyBytes: number): Promise<void> {
    const socket = this.open();
    // `once` would reject when the gateway resets the connection, as it may.
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.once('close', () => resolve());
    const isChunked = /^transfer-encoding:/im.test(head);
    socket.write(`${head}${isChunked ? '' : `Content-Length: ${bodyBytes}\r\n`}\r\n`);
    for (let left = bodyBytes; left > 0 && !socket.destroyed; left -= PART.length) {
      const part = left > PART.length ? PART : Buffer.from(END.padStart(left));
      if (isChunked) socket.write(`${part.length.toString(16)}\r\n`);
      const isWritable = socket.write(part);
      if (isChunked) socket.write('\r\n');
      if (!isWritable) await Promise.race([drained(socket), closed]);
    }
    if (isChunked) socket.write('0\r\n\r\n');
    socket.end();
    await closed;
  }

  private open(): Socket {
    const { hostname, port } = new URL(this.options.url);
    const { localAddress } = this.options;
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    this.sockets.add(socket.on('error', () => undefined).resume());
    return socket.once('close', () => this.sockets.delete(socket));
  }
}

const drained = (socket: Socket) => new Promise<void>((resolve) => socket.once('drain', resolve));
