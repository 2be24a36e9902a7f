import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { ClientGone } from '@headgate/homeserver-contracts';
import { UpstreamClient } from './upstream-client.js';

const TIMEOUT_MS = 60_000;

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

describe('a request to the upstream whose caller hangs up', () => {
  let upstream: Server;
  let front: Server;
  let client: UpstreamClient;
  let received: string[];
  let connections: number;
  /** Receives the first request for `/held`, which is not answered. */
  let onHeld: () => void;
  let onCaller: (response: ServerResponse) => void;
  let frontPort: number;

  beforeEach(async () => {
    [received, connections] = [[], 0];
    upstream = createServer(({ url = '' }, response) => {
      const isFirst = !received.includes(url);
      received.push(url);
      if (url === '/held' && isFirst) onHeld();
      else response.end('{}');
    }).on('connection', () => connections++);
    client = new UpstreamClient(new URL(`http://127.0.0.1:${await listen(upstream)}`));
    front = createServer((_request, response) => onCaller(response));
    frontPort = await listen(front);
  });
  afterEach(async () => {
    client.close();
    for (const server of [upstream, front]) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  });

  const send = (target: string, caller?: ServerResponse) =>
    client.send({ method: 'GET', target, headers: ['Host', 'b'], timeoutMs: TIMEOUT_MS, ...(caller && { caller }) });

  /** A caller, and the response that it waits for. */
  async function call(): Promise<{ socket: Socket; response: ServerResponse }> {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    onCaller = resolve;
    const socket = connect(frontPort, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: b\r\n\r\n');
    return { socket, response: await promise };
  }

  test('is not sent again, although its connection was used before', async () => {
    const first = await send('/first');
    await once(first.resume(), 'close');
    const { socket, response } = await call();
    const held = new Promise<void>((resolve) => (onHeld = resolve));
    const sending = send('/held', response);
    await held;
    expect(connections).toBe(1);
    socket.destroy();
    await expect(sending).rejects.toBeInstanceOf(ClientGone);
    expect(received).toEqual(['/first', '/held']);
  });

  test('is not sent when they are gone before', async () => {
    const { socket, response } = await call();
    socket.destroy();
    await once(response, 'close');
    await expect(send('/late', response)).rejects.toBeInstanceOf(ClientGone);
    expect(received).toEqual([]);
  });
});
