import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A header that each request has to have: only after it, an empty line ends the head, since targets may have some. */
export const MARK = 'X-Mark';

const MARKED = new RegExp(`\r\n${MARK}: 1\r\n`, 'i');
/** Where the target ends. */
const VERSION = / HTTP\/1\.[01]\r\nhost: /i;

/** A server that answers each request with its target exactly as it was received, in base64. */
export class TargetRecorder {
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async listen(): Promise<TargetRecorder> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TargetRecorder(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  async close(): Promise<void> {
    this.server.close();
    await once(this.server, 'close');
  }
}

function answer(socket: Socket): void {
  let received = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    const text = received.toString('latin1');
    if (!MARKED.test(text) || !text.endsWith('\r\n\r\n')) return;
    const target = text.slice(text.indexOf(' ') + 1, text.search(VERSION));
    const body = Buffer.from(target, 'latin1').toString('base64');
    socket.end(`HTTP/1.0 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
}
