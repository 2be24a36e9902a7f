import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  method: string;
  target: string;
  body: string;
}

/** An upstream that writes responses byte for byte, including invalid ones. */
export class ByteUpstream {
  readonly asked: ReceivedRequest[] = [];
  /** Receives whole requests, one after the other. */
  respond: (socket: Socket, asked: ReceivedRequest) => void = (socket) => socket.write(json(200, {}));
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor() {
    this.server = createServer((socket) => this.serve(socket));
  }

  static async listen(): Promise<ByteUpstream> {
    const upstream = new ByteUpstream();
    await new Promise<void>((resolve) => upstream.server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  times(target: string): number {
    return this.asked.filter((asked) => asked.target.startsWith(target)).length;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    let received = '';
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let length = lengthOf(received); length > 0; length = lengthOf(received)) {
        const [method = '', target = ''] = received.split(' ', 2);
        const body = received.slice(received.indexOf('\r\n\r\n') + 4, length);
        received = received.slice(length);
        const asked = { method, target, body };
        this.asked.push(asked);
        this.respond(socket, asked);
      }
    });
  }
}

/** A complete JSON response. */
export function json(status: number, body: object, headers = ''): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n${headers}\r\n${text}`;
}

/** The length of the first request in the text; 0 when it is incomplete. */
function lengthOf(received: string): number {
  const head = received.indexOf('\r\n\r\n') + 4;
  if (head < 4) return 0;
  if (/^transfer-encoding: chunked/im.test(received.slice(0, head))) {
    const end = received.indexOf('0\r\n\r\n', head);
    return end < 0 ? 0 : end + 5;
  }
  const length = head + Number(/^content-length: (\d+)/im.exec(received.slice(0, head))?.[1] ?? 0);
  return received.length >= length ? length : 0;
}
