import { Duplex } from 'node:stream';

/** The byte stream of a WebSocket that a server opened. */
export class SocketStream extends Duplex {
  private constructor(private readonly socket: WebSocket) {
    super();
    socket.onmessage = ({ data }) => this.push(Buffer.from(data as ArrayBuffer));
    socket.onclose = () => this.destroy();
  }

  /** @throws Error when the server refuses */
  static async open(url: string, protocol: string): Promise<SocketStream> {
    const socket = new WebSocket(url, protocol);
    socket.binaryType = 'arraybuffer';
    const stream = new SocketStream(socket);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`${url} was refused`));
    });
    return stream;
  }

  override _read(): void {}
  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.socket.send(Uint8Array.from(data));
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.close();
    done(error);
  }
}
