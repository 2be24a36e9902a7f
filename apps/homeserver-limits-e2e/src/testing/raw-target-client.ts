import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MARK } from './target-recorder.js';

export interface RawResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends requests with any target on a connection that it keeps, one after another. Their bodies are ASCII. */
export class RawTargetClient {
  private socket: Socket | undefined;

  /** @param headers of every request */
  constructor(
    private readonly port: number,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  get(target: string): Promise<RawResponse> {
    return this.send('GET', target);
  }

  async send(method: string, target: string, body = ''): Promise<RawResponse> {
    const socket = (this.socket ??= await this.open());
    let received = '';
    const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
    const onData = (chunk: string): void => {
      received += chunk;
      const response = parse(received);
      if (response) resolve(response);
    };
    const onClose = (): void => reject(new Error(`no response to ${target}: ${received}`));
    socket.on('data', onData).once('close', onClose);
    const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    const own = Object.entries(this.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `${method} ${target} HTTP/1.1\r\nHost: b\r\nAccept-Encoding: identity\r\n${MARK}: 1\r\n${own.join('')}${length}`;
    // Each character of a target is a byte.
    socket.write(`${head}\r\n${body}`, 'latin1');
    try {
      return await promise;
    } finally {
      socket.off('data', onData).off('close', onClose);
      // A proxy may close the connection after a request that it refuses.
      if (!/^HTTP\/1\.1 200 /.test(received)) this.close();
    }
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private async open(): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1').setEncoding('latin1');
    await once(socket, 'connect');
    return socket.on('error', () => socket.destroy());
  }
}

function parse(text: string): RawResponse | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
  const body = text.slice(headEnd + 4);
  if (body.length < length) return undefined;
  return { status: Number(head.split(' ')[1]), body: body.slice(0, length) };
}
