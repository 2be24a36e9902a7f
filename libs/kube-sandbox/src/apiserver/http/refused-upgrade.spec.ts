import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { KubeSandbox } from '../../kube-sandbox.js';

/** A request over a bare connection, so that no client adds, follows or hides a header. */
class Connection {
  received = '';
  readonly socket: Socket;
  private waiting: () => void = () => undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString();
      this.waiting();
    });
    // A reset is one of the two ways in which the server may close it.
    this.socket.on('error', () => undefined);
  }

  send(method: string, path: string, ...headers: readonly string[]): void {
    this.socket.write(`${[`${method} ${path} HTTP/1.1`, 'Host: sandbox', ...headers].join('\r\n')}\r\n\r\n`);
  }

  async until(text: string): Promise<void> {
    while (!this.received.includes(text)) await new Promise<void>((resolve) => (this.waiting = resolve));
  }
}

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAA'];
const PATH = '/api/v1/namespaces/default/pods/none/exec';
const BODY = '404 page not found\n';
/** A connection that the server closes with its response is open for a few milliseconds. */
const LEAST_OPEN_MS = 200;

describe('the connection of a refused upgrade', () => {
  let sandbox: KubeSandbox;
  let connection: Connection;
  let began: number;
  /** From the beginning: on a busy machine, the server may close it before the test begins. */
  let closed: Promise<unknown>;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen();
    connection = new Connection(sandbox.url);
    closed = once(connection.socket, 'close');
    began = performance.now();
    connection.send('GET', PATH, ...UPGRADE);
    await connection.until(BODY);
  });

  afterEach(async () => {
    connection.socket.destroy();
    await sandbox.close();
  });

  test('gets a complete response that does not announce its end', () => {
    const [head = '', body] = connection.received.split('\r\n\r\n');
    const [status, ...headers] = head.split('\r\n');
    expect(status).toBe('HTTP/1.1 404 Not Found');
    expect(headers).toContain(`Content-Length: ${BODY.length}`);
    expect(headers.filter((header) => /^(connection|keep-alive):/i.test(header))).toEqual([]);
    expect(body).toBe(BODY);
  });

  test('is closed by the next request, which gets no response', async () => {
    const before = connection.received;
    connection.send('GET', '/version');
    await closed;
    expect(connection.received).toBe(before);
  });

  test('stays open for a moment, in which a client may reuse it, and is closed then', async () => {
    await closed;
    expect(performance.now() - began).toBeGreaterThan(LEAST_OPEN_MS);
  });
});
