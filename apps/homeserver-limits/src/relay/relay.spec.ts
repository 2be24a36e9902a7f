import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { boundedOperations, PathTable } from '@headgate/homeserver-contracts';
import { Bounds } from '../bounds/bounds.js';
import { Relay } from './relay.js';
import { RelayPlan } from './relay-plan.js';

const OK = 'HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 2\r\n\r\nok';
const ENDING = 'GET /last HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n';

/** Requests as the upstream receives them, and the sockets to respond on. */
class TestUpstream {
  readonly heads: string[] = [];
  readonly sockets: Socket[] = [];
  /** Receives each chunk of a connection with all that has arrived on it. */
  respond: (socket: Socket, received: string) => void = (socket) => socket.write(OK);
  private readonly server: Server = createServer((socket) => {
    this.sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      this.heads.push(text);
      this.respond(socket, text);
    });
  });

  async listen(): Promise<URL> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return new URL(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`);
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

describe('Relay', () => {
  let upstream: TestUpstream;
  let relay: Relay;
  let server: HttpServer;
  let port: number;
  let answers: [string, number | undefined][];
  let forgotten: string[];
  let isTrusted: boolean;
  /** The requests that Node's server has handled. */
  let byNode: string[];
  /** How it handles them. */
  let handle: RequestListener;

  beforeEach(async () => {
    upstream = new TestUpstream();
    [answers, forgotten, byNode, isTrusted] = [[], [], [], false];
    relay = new Relay({
      upstream: await upstream.listen(),
      plan: new RelayPlan({
        table: new PathTable(boundedOperations),
        bounds: new Bounds([]),
        rules: { applyTo: (target) => target.startsWith('/ruled') },
        addresses: { ignoreHeaderOf: () => undefined },
        timeoutMs: 300,
        hasMetrics: true,
      }),
      addresses: { trusts: () => isTrusted },
      identity: { forget: (token) => void forgotten.push(token) },
      onAnswer: (kind, _ms, failure) => answers.push([kind, failure]),
      log: { warn: () => undefined } as never,
    });
    handle = (request, response) => void request.resume().once('end', () => response.end('by node'));
    server = createHttpServer((request, response) => {
      byNode.push(`${request.method} ${request.url}`);
      void handle(request, response);
    });
    relay.attach(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    relay.beforeApplicationShutdown();
    relay.onApplicationShutdown();
    upstream.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const dial = () => connect(port, '127.0.0.1').on('error', () => undefined);

  /** Sends bytes, and returns everything received until the connection closes. */
  async function exchange(bytes: string): Promise<string> {
    const socket = dial();
    let received = '';
    socket.on('data', (part) => (received += part.toString('latin1')));
    socket.write(bytes, 'latin1');
    await once(socket, 'close');
    return received;
  }

  const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\nHost: b\r\n${headers}\r\n`;
  const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);

  test('relays pipelined requests in order, over one connection to the upstream', async () => {
    upstream.respond = (socket, text) => {
      const body = /^GET \/(\S+)/.exec(text)?.[1] ?? '';
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    };
    const received = await exchange(get('/first') + get('/second') + ENDING);
    expect(received.match(/first|second|last/g)).toEqual(['first', 'second', 'last']);
    expect(received.match(/Connection: (?:close|keep-alive)/g)).toEqual([
      'Connection: keep-alive',
      'Connection: keep-alive',
      'Connection: close',
    ]);
    expect(received).toContain('Access-Control-Allow-Origin: *');
    expect(upstream.sockets).toHaveLength(1);
    expect(byNode).toEqual([]);
    expect(answers).toEqual(Array(3).fill(['forwarded', undefined]));
  });

  test('leaves single requests of a connection to the server of Node, in order', async () => {
    const received = await exchange(get('/first') + get('/ruled') + get('/next') + get('/ruled/2') + ENDING);
    expect(statusesOf(received)).toEqual(Array(5).fill('200'));
    expect(received.match(/ok|by node/g)).toEqual(['ok', 'by node', 'ok', 'by node', 'ok']);
    expect(byNode).toEqual(['GET /ruled', 'GET /ruled/2']);
    expect(upstream.heads).toHaveLength(3);
  });

  test('gives a connection to the server of Node from the first request on that it cannot read', async () => {
    const chunks = 'POST /x HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
    const received = await exchange(get('/first') + get('/ruled') + chunks + ENDING);
    expect(statusesOf(received)).toEqual(Array(4).fill('200'));
    expect(byNode).toEqual(['GET /ruled', 'POST /x', 'GET /last']);
    expect(upstream.heads).toHaveLength(1);
  });

  test('gives a connection to the server of Node that carries nothing else for a while', async () => {
    const received = await exchange(get('/ruled').repeat(16) + get('/first') + get('/ruled').repeat(17) + ENDING);
    expect(statusesOf(received)).toEqual(Array(35).fill('200'));
    expect(upstream.heads).toHaveLength(1);
    expect(byNode.at(-1)).toBe('GET /last');
  });

  test.each([
    ['a login', 'POST /_matrix/client/v3/login HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}'],
    ['an upload', 'POST /_matrix/media/v3/upload HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}'],
    ['the metrics', get('/metrics')],
    ['an ambiguous path', 'POST /_matrix/client/v3/x/..%2flogin HTTP/1.1\r\nHost: b\r\nContent-Length: 0\r\n\r\n'],
    ['a preflight that the gateway may answer', get('/_svc/rtc/media/sfu/get').replace('GET', 'OPTIONS')],
    [
      'a form that would be read as JSON',
      'PUT /_matrix/client/v3/rooms/!r:b/send/m.x/1 HTTP/1.1\r\nHost: b\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}',
    ],
  ])('leaves %s to the server of Node', async (_what, text) => {
    await exchange(text + ENDING);
    expect(byNode).toHaveLength(1);
    expect(upstream.heads.map((head) => head.split(' ', 2)[1])).toEqual(['/last']);
  });

  describe('gives the server of Node', () => {
    const RULED = 'POST /ruled HTTP/1.1\r\nHost: b\r\nContent-Length: 200010\r\n\r\n';

    test('a body that arrives in pieces, with the address of the caller', async () => {
      let received = '';
      let address: string | undefined;
      handle = (request, response) => {
        address = request.socket.remoteAddress;
        request.on('data', (part: Buffer) => (received += part.toString('latin1')));
        request.once('end', () => response.end('by node'));
      };
      const socket = dial();
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
      handle = (_request, response) => response.end('refused');
      const socket = dial();
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
      handle = (request) => request.once('close', resolve);
      const socket = dial();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      server.once('request', () => begin());
      socket.write(get('/ruled'));
      await begun;
      socket.destroy();
      await promise;
    });

    test('the decision to close a connection', async () => {
      handle = (_request, response) => {
        response.shouldKeepAlive = false;
        response.end('last');
      };
      const received = await exchange(get('/ruled') + get('/ruled'));
      expect(received).toMatch(/Connection: close[\s\S]*last$/);
      expect(byNode).toHaveLength(1);
    });

    test('the pace of a caller that reads slowly', async () => {
      const length = 64 * 1024 * 1024;
      let sent = 0;
      handle = (_request, response) => {
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
      const socket = dial();
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
      handle = (_request, response) => {
        response.shouldKeepAlive = false;
        resolve(() => response.end('done'));
      };
      const received = exchange(get('/ruled'));
      const respond = await promise;
      relay.beforeApplicationShutdown();
      respond();
      expect(await received).toMatch(/done$/);
    });
  });

  test('changes the headers of the connection and of the way, and no others', async () => {
    const headers =
      'X-Forwarded-For: 1.1.1.1\r\nForwarded: for=1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\nX-Forwarded-Proto: https\r\n';
    await exchange(get('/a?b=%20', `Cookie: a=b\r\n${headers}Keep-Alive: 5\r\nConnection: close\r\n`));
    isTrusted = true;
    await exchange(get('/a', `${headers}Connection: close\r\n`));
    expect(upstream.heads).toEqual([
      'GET /a?b=%20 HTTP/1.1\r\nHost: b\r\nCookie: a=b\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nConnection: keep-alive\r\n\r\n',
      'GET /a HTTP/1.1\r\nHost: b\r\nForwarded: for=1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 1.1.1.1, 127.0.0.1\r\nConnection: keep-alive\r\n\r\n',
    ]);
  });

  test.each([
    [
      'a response until the end of the connection',
      'HTTP/1.1 200 OK\r\n\r\nabc',
      /Transfer-Encoding: chunked[\s\S]*\r\n3\r\nabc\r\n0\r\n\r\n$/,
    ],
    ['a response of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nabc', /^HTTP\/1\.1 200 OK[\s\S]*3\r\nabc\r\n0\r\n\r\n$/],
  ])('marks the end of %s', async (_what, response, expected) => {
    upstream.respond = (socket) => socket.end(response);
    expect(await exchange(ENDING)).toMatch(expected);
  });

  test('does not mark the end of a response that breaks off', async () => {
    upstream.respond = (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nabc', () => socket.resetAndDestroy());
    const received = await exchange(ENDING);
    expect(received).not.toContain('0\r\n\r\n');
  });

  test.each([
    [
      'chunks with trailers',
      'Transfer-Encoding: chunked\r\nTrailer: X',
      '3\r\nabc\r\n0\r\nX: y\r\n\r\n',
      '3\r\nabc\r\n0\r\n\r\n',
    ],
    ['chunks', 'Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n', '3\r\nabc\r\n0\r\n\r\n'],
    ['an empty body', 'Content-Length: 0', '', ''],
  ])('keeps the connection after %s, byte by byte', async (_what, headers, body, expected) => {
    upstream.respond = (socket) => {
      socket.setNoDelay(true);
      const bytes = `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;
      let at = 0;
      const next = () => void (at < bytes.length && socket.write(bytes[at++] ?? '', () => setImmediate(next)));
      next();
    };
    const received = await exchange(get('/first') + ENDING);
    expect(received.split(/\r\n\r\n(?=HTTP|$)/)[0]).toContain('200 OK');
    expect(statusesOf(received)).toEqual(['200', '200']);
    expect(received.endsWith(`\r\n\r\n${expected}`)).toBe(true);
    expect(received).not.toContain('X: y');
    expect(upstream.sockets).toHaveLength(1);
  });

  test.each([
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'],
    ['GET', `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${OK}`],
  ])('waits for no body after %s with %j', async (method, response) => {
    upstream.respond = (socket) => socket.write(response);
    const received = await exchange(get('/first').replace('GET', method) + ENDING.replace('GET', method));
    expect(statusesOf(received)).toEqual(Array(2).fill(/HTTP\/1\.1 (2\d\d|304)/.exec(response)?.[1]));
    expect(received).not.toContain('Link');
    expect(upstream.sockets).toHaveLength(1);
  });

  test('relays a body that arrives in pieces, and finds the next request after it', async () => {
    let received = '';
    upstream.respond = (socket, text) => {
      received += text;
      if (received.endsWith('x'.repeat(10)) || text.startsWith('GET')) socket.write(OK);
    };
    const socket = dial();
    socket.write('POST /p HTTP/1.1\r\nHost: b\r\nContent-Length: 200010\r\n\r\n');
    for (let i = 0; i < 20; i++) socket.write('y'.repeat(10_000));
    socket.write(`${'x'.repeat(10)}${ENDING}`);
    socket.resume();
    await once(socket, 'close');
    expect(received.match(/y/g)).toHaveLength(200_000);
    expect(upstream.heads.at(-1)).toMatch(/^GET \/last/);
  });

  test('discards the rest of a body that the upstream does not read, and then reads the next request', async () => {
    upstream.respond = (socket, text) => void (/^(?:POST|GET) /.test(text) && socket.write(OK));
    const socket = dial();
    let received = '';
    socket.on('data', (part) => (received += part.toString('latin1')));
    socket.write('POST /p HTTP/1.1\r\nHost: b\r\nContent-Length: 100000\r\n\r\n');
    await once(socket, 'data');
    socket.write('z'.repeat(100_000) + ENDING);
    await once(socket, 'close');
    expect(statusesOf(received)).toEqual(['200', '200']);
    // The upstream still expects the body on the first connection.
    expect(upstream.sockets).toHaveLength(2);
  });

  test.each([
    ['GET', '', '', 200, 3],
    ['POST', 'Content-Length: 2\r\n', '{}', 502, 2],
    ['PUT', 'Content-Length: 2\r\n', '{}', 200, 3],
    // The gateway has not kept it.
    ['PUT', 'Content-Length: 20000\r\n', '1'.repeat(20_000), 502, 2],
    ['PUT', 'Content-Length: 4\r\n', '{}', 502, 2],
  ])(
    'sends %s with "%s" again after a stale connection only if that is safe',
    async (method, headers, body, status, times) => {
      const socket = dial();
      socket.write(get('/first'));
      await once(socket, 'data');
      const [stale] = upstream.sockets;
      upstream.respond = (peer, text) => {
        if (peer === stale) return void peer.destroy();
        expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true);
        peer.write(OK);
      };
      socket.write(`${method} /second HTTP/1.1\r\nHost: b\r\n${headers}\r\n${body}`);
      const [response] = (await once(socket, 'data')) as [Buffer];
      expect(response.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(upstream.heads).toHaveLength(times);
      socket.destroy();
    },
  );

  test('serves many callers that arrive at once, each over a connection of its own or one that became free', async () => {
    upstream.respond = (socket) => void setImmediate(() => socket.write(OK));
    const received = await Promise.all(Array.from({ length: 300 }, () => exchange(ENDING)));
    expect(new Set(received.flatMap(statusesOf))).toEqual(new Set(['200']));
    expect(upstream.heads).toHaveLength(300);
    expect(relay.waitingCount).toBe(0);
  });

  test('reuses no connection on which the upstream has sent more than a response', async () => {
    upstream.respond = (socket) => socket.write(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`);
    const received = await exchange(get('/first') + ENDING);
    expect(received).not.toContain('poison');
    expect(upstream.sockets).toHaveLength(2);
  });

  test('aborts a request whose caller hangs up, but not one that a bound has let through', async () => {
    const hangUp = async (target: string) => {
      const socket = dial();
      const before = upstream.heads.length;
      const { promise, resolve } = Promise.withResolvers<Socket>();
      upstream.respond = (peer) => resolve(peer);
      socket.write(`PUT ${target} HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}`);
      const peer = await promise;
      expect(upstream.heads.length).toBe(before + 1);
      socket.destroy();
      return peer;
    };
    await once(await hangUp('/unknown'), 'close');
    expect(answers).toEqual([]);
    const kept = await hangUp('/_matrix/client/v3/rooms/!r:b/send/m.x/1');
    // Another exchange on another connection: the hang-up has arrived by its end.
    upstream.respond = (peer) => peer.write(OK);
    await exchange(ENDING);
    expect(kept.destroyed || kept.readableEnded).toBe(false);
    kept.write(OK);
    await once(kept, 'close');
    expect(answers).toHaveLength(2);
  });

  test('forgets a token that the upstream does not accept', async () => {
    upstream.respond = (socket) => socket.write('HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n');
    await exchange(get('/a', 'Authorization: Bearer header\r\n') + get('/a?access_token=query') + ENDING);
    await exchange(get('/a?access_token=other', 'Authorization: Bearer one\r\nConnection: close\r\n'));
    expect(forgotten).toEqual(['header', 'query']);
  });

  test.each([
    ['closes the connection', (socket: Socket) => socket.destroy(), 502],
    ['is silent', () => undefined, 504],
    ['responds with something else', (socket: Socket) => socket.write('220 smtp\r\n\r\n'), 502],
    ['switches protocols', (socket: Socket) => socket.write('HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n'), 502],
    ['sends a head without end', (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`), 502],
    [
      'sends invalid chunks',
      (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno'),
      200,
    ],
  ])('responds if the upstream %s', async (_what, fault, status) => {
    upstream.respond = fault;
    const received = await exchange(ENDING.replace('GET', 'POST'));
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    if (status === 200) return;
    expect(received).toContain('"errcode":"M_UNKNOWN"');
    expect(answers).toEqual([['forwarded', status]]);
  });

  test('gives a long poll the time that it asks for', async () => {
    upstream.respond = (socket) => void setTimeout(() => socket.write(OK), 900);
    const received = await exchange(get('/_matrix/client/v3/sync?timeout=2000', 'Connection: close\r\n'));
    expect(statusesOf(received)).toEqual(['200']);
    expect(answers).toEqual([['long_poll', undefined]]);
  });

  test('reads a head in pieces, and leaves one in many pieces to the server of Node', async () => {
    for (const [pieces, handledByNode] of [
      [2, 0],
      [30, 1],
    ] as const) {
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const socket = dial();
      const [peer] = await accepted;
      const text = get('/p', `X: ${'x'.repeat(60)}\r\nConnection: close\r\n`);
      const length = Math.ceil((text.length - 24) / pieces);
      for (let at = 0, end = 24; at < text.length; at = end, end += length) {
        socket.write(text.slice(at, end));
        while (peer.bytesRead < Math.min(end, text.length)) await new Promise((next) => setImmediate(next));
      }
      await once(socket.resume(), 'close');
      expect([pieces, byNode.length]).toEqual([pieces, handledByNode]);
    }
  });

  test('keeps little of a response that its caller does not read', async () => {
    const length = 64 * 1024 * 1024;
    let sent = 0;
    upstream.respond = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`);
      const more = () => {
        while (sent < length) {
          sent += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) return void socket.once('drain', more);
        }
      };
      more();
    };
    const socket = dial();
    // A long poll: the pause must not end it.
    socket.write(ENDING.replace('/last', '/last?timeout=60000'));
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

  test('completes requests at shutdown and closes their connections', async () => {
    const { promise, resolve } = Promise.withResolvers<Socket>();
    upstream.respond = (socket) => resolve(socket);
    const accepted = once(server, 'connection');
    const idle = dial();
    await accepted;
    const received = exchange(get('/slow'));
    const peer = await promise;
    relay.beforeApplicationShutdown();
    await once(idle.resume(), 'close');
    peer.write(OK);
    expect(await received).toMatch(/Connection: close\r\n\r\nok$/);
  });
});
