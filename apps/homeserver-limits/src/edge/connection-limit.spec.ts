import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { CallerAddress } from './caller-address.js';
import { ConnectionLimit } from './connection-limit.js';

const CALLER = '127.0.0.2';
const OTHER = '127.0.0.3';
const PROXY = '127.0.0.4';

describe('ConnectionLimit', () => {
  let server: Server;
  let refused: string[];
  const sockets: Socket[] = [];
  beforeEach(async () => {
    refused = [];
    server = createServer((_request, response) => response.end());
    const addresses = new CallerAddress([PROXY], 64);
    new ConnectionLimit({ addresses, maxPerSource: 2, onRefused: (source) => refused.push(source) }).attach(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  /** @returns whether a request on a new connection, which stays open, is answered */
  async function isServed(localAddress: string): Promise<boolean> {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.push(socket.on('error', () => undefined));
    const { promise, resolve } = Promise.withResolvers<boolean>();
    socket.once('data', () => resolve(true)).once('close', () => resolve(false));
    socket.write('GET / HTTP/1.1\r\nHost: b\r\n\r\n');
    return promise;
  }

  test('closes connections beyond the limit of their source', async () => {
    expect([await isServed(CALLER), await isServed(CALLER), await isServed(CALLER)]).toEqual([true, true, false]);
    expect(refused).toEqual([CALLER]);
    expect(await isServed(OTHER)).toBe(true);
  });

  test('has room again when a connection has closed', async () => {
    const accepted = once(server, 'connection');
    await isServed(CALLER);
    const [first] = (await accepted) as [Socket];
    await isServed(CALLER);
    const closed = once(first, 'close');
    sockets[0]!.destroy();
    await closed;
    expect([await isServed(CALLER), await isServed(CALLER)]).toEqual([true, false]);
  });

  test('does not bound a trusted proxy', async () => {
    for (let i = 0; i < 5; i++) expect(await isServed(PROXY)).toBe(true);
    expect(refused).toEqual([]);
  });
});
