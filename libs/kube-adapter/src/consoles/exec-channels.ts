import { Duplex } from 'node:stream';
import type { TerminalSize } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';

/** Channel numbers of the exec protocol, the first byte of each frame. Source: Kubernetes' remotecommand, v4 and v5. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, resize: 4, close: 255 } as const;
export const EXEC_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

/** The terminal of a process in a pod as a byte stream. */
export class ExecChannels extends Duplex {
  constructor(private readonly socket: WebSocket) {
    super();
    socket.on('message', (data: Buffer | ArrayBuffer | Buffer[], binary: boolean) => this.receive(data, binary));
    socket.once('close', () => {
      this.push(null);
      this.destroy();
    });
    socket.once('error', (error) => this.destroy(error));
  }

  resize({ columns, rows }: TerminalSize): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.socket.send(frame(CHANNEL.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))));
  }

  override _read(): void {
    if (this.socket.isPaused) this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // Completes only when the data has left the process, so that a slow server applies back-pressure to the writer.
    this.socket.send(frame(CHANNEL.stdin, chunk), { binary: true }, (error) => done(error));
  }

  override _final(done: () => void): void {
    // Version 4 cannot close the input alone.
    if (this.socket.protocol === EXEC_PROTOCOLS[0])
      this.socket.send(Buffer.from([CHANNEL.close, CHANNEL.stdin]), () => done());
    else done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // A closing handshake would wait for an answer that is no longer read. The server ends the process either way.
    this.socket.terminate();
    done(error);
  }

  private receive(data: Buffer | ArrayBuffer | Buffer[], binary: boolean): void {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);
    if (!binary || bytes.length < 2 || (bytes[0] !== CHANNEL.stdout && bytes[0] !== CHANNEL.stderr)) return;
    if (!this.push(bytes.subarray(1))) this.socket.pause();
  }
}

const frame = (channel: number, data: Buffer): Buffer => Buffer.concat([Buffer.from([channel]), data]);
