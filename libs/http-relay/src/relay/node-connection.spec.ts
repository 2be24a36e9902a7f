import { once } from 'node:events';
import { ENDING, get, RelayFixture, statusesOf } from '../testing/relay-fixture.js';

describe("A connection that the relay shares with Node's server", () => {
  let fixture: RelayFixture;
  let upstream: RelayFixture['upstream'];
  let relay: RelayFixture['relay'];
  let server: RelayFixture['server'];
  let byNode: RelayFixture['byNode'];

  beforeEach(async () => {
    fixture = await RelayFixture.open();
    ({ upstream, relay, server, byNode } = fixture);
  });
  afterEach(() => fixture.close());

  test('leaves single requests of a connection to the server of Node, in order', async () => {
    const received = await fixture.exchange(get('/first') + get('/ruled') + get('/next') + get('/ruled/2') + ENDING);
    expect(statusesOf(received)).toEqual(Array(5).fill('200'));
    expect(received.match(/ok|by node/g)).toEqual(['ok', 'by node', 'ok', 'by node', 'ok']);
    expect(byNode).toEqual(['GET /ruled', 'GET /ruled/2']);
    expect(upstream.heads).toHaveLength(3);
  });

  test('gives a connection to the server of Node from the first request on that it cannot read', async () => {
    const chunks = 'POST /x HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
    const received = await fixture.exchange(get('/first') + get('/ruled') + chunks + ENDING);
    expect(statusesOf(received)).toEqual(Array(4).fill('200'));
    expect(byNode).toEqual(['GET /ruled', 'POST /x', 'GET /last']);
    expect(upstream.heads).toHaveLength(1);
  });

  test('gives a connection to the server of Node that carries nothing else for a while', async () => {
    const received = await fixture.exchange(
      get('/ruled').repeat(16) + get('/first') + get('/ruled').repeat(17) + ENDING,
    );
    expect(statusesOf(received)).toEqual(Array(35).fill('200'));
    expect(upstream.heads).toHaveLength(1);
    expect(byNode.at(-1)).toBe('GET /last');
  });

  describe('gives the server of Node', () => {
    const RULED = 'POST /ruled HTTP/1.1\r\nHost: b\r\nContent-Length: 200010\r\n\r\n';

    test('a body that arrives in pieces, with the address of the caller', async () => {
      let received = '';
      let address: string | undefined;
      fixture.handle = (request, response) => {
        address = request.socket.remoteAddress;
        request.on('data', (part: Buffer) => (received += part.toString('latin1')));
        request.once('end', () => response.end('by node'));
      };
      const socket = fixture.dial();
      socket.write(RULED);
      for (let i = 0; i < 20; i++) socket.write('y'.repeat(10_000));
      socket.write(`${'x'.repeat(10)}${ENDING}`);
      socket.resume();
      await once(socket, 'close');
      expect(received).toBe('y'.repeat(200_000) + 'x'.repeat(10));
      expect(address).toBe('127.0.0.1');
      expect(upstream.heads).toHaveLength(1);
    });

    test('no more of a body than it reads, and discards the rest after its response', async () => {
      fixture.handle = (_request, response) => response.end('refused');
      const socket = fixture.dial();
      let received = '';
      socket.on('data', (part) => (received += part.toString('latin1')));
      socket.write(RULED);
      await once(socket, 'data');
      socket.write('z'.repeat(200_010) + get('/ruled') + ENDING);
      await once(socket, 'close');
      expect(received.match(/refused|ok/g)).toEqual(['refused', 'refused', 'ok']);
      expect(byNode).toEqual(['POST /ruled', 'GET /ruled']);
    });

    test('the end of a caller that hangs up', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      fixture.handle = (request) => request.once('close', resolve);
      const socket = fixture.dial();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      server.once('request', () => begin());
      socket.write(get('/ruled'));
      await begun;
      socket.destroy();
      await promise;
    });

    test('the decision to close a connection', async () => {
      fixture.handle = (_request, response) => {
        response.shouldKeepAlive = false;
        response.end('last');
      };
      const received = await fixture.exchange(get('/ruled') + get('/ruled'));
      expect(received).toMatch(/Connection: close[\s\S]*last$/);
      expect(byNode).toHaveLength(1);
    });

    test('the pace of a caller that reads slowly', async () => {
      const length = 64 * 1024 * 1024;
      let sent = 0;
      fixture.handle = (_request, response) => {
        response.writeHead(200, { 'Content-Length': length });
        const more = () => {
          while (sent < length) {
            sent += 65_536;
            if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      };
      const socket = fixture.dial();
      socket.write(get('/ruled', 'Connection: close\r\n'));
      await once(socket, 'data');
      socket.pause();
      // Until the buffers of the system are full.
      for (let last = -1; last !== sent;) {
        last = sent;
        await new Promise((next) => setTimeout(next, 50));
      }
      expect(sent).toBeLessThan(length);
      let received = 0;
      socket.on('data', (part) => (received += part.length)).resume();
      await once(socket, 'close');
      expect(received).toBeGreaterThan(length - 1024 * 1024);
    });

    test('the time to complete a request at shutdown', async () => {
      const { promise, resolve } = Promise.withResolvers<() => void>();
      fixture.handle = (_request, response) => {
        response.shouldKeepAlive = false;
        resolve(() => response.end('done'));
      };
      const received = fixture.exchange(get('/ruled'));
      const respond = await promise;
      relay.drain(3_000);
      respond();
      expect(await received).toMatch(/done$/);
    });
  });
});
