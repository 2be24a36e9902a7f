import { once } from 'node:events';
import type { Socket } from 'node:net';
import { ENDING, get, OK, RelayFixture, statusesOf } from '../testing/relay-fixture.js';

describe('Relay', () => {
  let fixture: RelayFixture;
  let upstream: RelayFixture['upstream'];
  let relay: RelayFixture['relay'];
  let server: RelayFixture['server'];
  let byNode: RelayFixture['byNode'];
  let answers: RelayFixture['answers'];

  beforeEach(async () => {
    fixture = await RelayFixture.open();
    ({ upstream, relay, server, byNode, answers } = fixture);
  });
  afterEach(() => fixture.close());

  test('relays pipelined requests in order, over one connection to the upstream', async () => {
    upstream.respond = (socket, text) => {
      const body = /^GET \/(\S+)/.exec(text)?.[1] ?? '';
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    };
    const received = await fixture.exchange(get('/first') + get('/second') + ENDING);
    expect(received.match(/first|second|last/g)).toEqual(['first', 'second', 'last']);
    expect(received.match(/Connection: (?:close|keep-alive)/g)).toEqual([
      'Connection: keep-alive',
      'Connection: keep-alive',
      'Connection: close',
    ]);
    expect(received).not.toContain('Access-Control');
    expect(upstream.sockets).toHaveLength(1);
    expect(byNode).toEqual([]);
    expect(answers).toEqual(Array(3).fill(['forwarded', undefined]));
  });

  test('changes the headers of the connection and of the way, and no others', async () => {
    const headers =
      'X-Forwarded-For: 1.1.1.1\r\nForwarded: for=1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\nX-Forwarded-Proto: https\r\n';
    await fixture.exchange(get('/a?b=%20', `Cookie: a=b\r\n${headers}Keep-Alive: 5\r\nConnection: close\r\n`));
    fixture.isTrusted = true;
    await fixture.exchange(get('/a', `${headers}Connection: close\r\n`));
    expect(upstream.heads).toEqual([
      'GET /a?b=%20 HTTP/1.1\r\nHost: b\r\nCookie: a=b\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nConnection: keep-alive\r\n\r\n',
      'GET /a HTTP/1.1\r\nHost: b\r\nForwarded: for=1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 1.1.1.1, 127.0.0.1\r\nConnection: keep-alive\r\n\r\n',
    ]);
  });

  test('asks the upstream for no connection until the body has begun', async () => {
    const post = (target: string, length: number) =>
      `POST ${target} HTTP/1.1\r\nHost: b\r\nContent-Length: ${length}\r\n\r\n`;
    const large = fixture.dial();
    large.write(`${post('/large', 100_000)}${'x'.repeat(10)}`);
    const small = fixture.dial();
    small.write(`${post('/small', 100)}${'x'.repeat(99)}`);
    await fixture.exchange(ENDING);
    expect(upstream.sockets.length).toBe(1);
    const answered = once(small, 'data');
    small.write('x');
    await answered;
    expect(upstream.heads.at(-1)).toMatch(/^POST \/small [\s\S]*\r\n\r\nx{100}$/);
    const begun = once(large, 'data');
    large.write('x'.repeat(20_000));
    await begun;
    expect(upstream.heads.some((text) => text.startsWith('POST /large '))).toBe(true);
    large.destroy();
    small.destroy();
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
    expect(await fixture.exchange(ENDING)).toMatch(expected);
  });

  test('does not mark the end of a response that breaks off', async () => {
    upstream.respond = (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nabc', () => socket.resetAndDestroy());
    const received = await fixture.exchange(ENDING);
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
    const received = await fixture.exchange(get('/first') + ENDING);
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
    const received = await fixture.exchange(get('/first').replace('GET', method) + ENDING.replace('GET', method));
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
    const socket = fixture.dial();
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
    const socket = fixture.dial();
    let received = '';
    socket.on('data', (part) => (received += part.toString('latin1')));
    socket.write(`POST /p HTTP/1.1\r\nHost: b\r\nContent-Length: 100000\r\n\r\n${'z'.repeat(20_000)}`);
    await once(socket, 'data');
    socket.write('z'.repeat(80_000) + ENDING);
    await once(socket, 'close');
    expect(statusesOf(received)).toEqual(['200', '200']);
    // The upstream still expects the body on the first connection.
    expect(upstream.sockets).toHaveLength(2);
  });

  test.each([
    ['GET', '', '', 200, 3],
    ['POST', 'Content-Length: 2\r\n', '{}', 502, 2],
    ['PUT', 'Content-Length: 2\r\n', '{}', 200, 3],
    // The relay has not kept it.
    ['PUT', 'Content-Length: 20000\r\n', '1'.repeat(20_000), 502, 2],
    // The beginning of a body that the upstream receives before its end.
    ['PUT', 'Content-Length: 16385\r\n', '1'.repeat(16_384), 502, 2],
  ])(
    'sends %s with "%s" again after a stale connection only if that is safe',
    async (method, headers, body, status, times) => {
      const socket = fixture.dial();
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

  test('serves many callers that arrive at the same time, each over a connection of its own or one that became free', async () => {
    upstream.respond = (socket) => void setImmediate(() => socket.write(OK));
    const received = await Promise.all(Array.from({ length: 300 }, () => fixture.exchange(ENDING)));
    expect(new Set(received.flatMap(statusesOf))).toEqual(new Set(['200']));
    expect(upstream.heads).toHaveLength(300);
    expect(relay.waitingCount).toBe(0);
  });

  test('reuses no connection on which the upstream has sent more than a response', async () => {
    upstream.respond = (socket) => socket.write(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`);
    const received = await fixture.exchange(get('/first') + ENDING);
    expect(received).not.toContain('poison');
    expect(upstream.sockets).toHaveLength(2);
  });

  test('aborts a request whose caller hangs up, but not one that outlives its caller', async () => {
    const hangUp = async (target: string) => {
      const socket = fixture.dial();
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
    const kept = await hangUp('/kept');
    // Another exchange on another connection: the hang-up has arrived by its end.
    upstream.respond = (peer) => peer.write(OK);
    await fixture.exchange(ENDING);
    expect(kept.destroyed || kept.readableEnded).toBe(false);
    kept.write(OK);
    await once(kept, 'close');
    expect(answers).toHaveLength(2);
  });

  test('reports each request whose credentials the upstream does not accept', async () => {
    upstream.respond = (socket, text) =>
      socket.write(text.startsWith('GET /last') ? OK : 'HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n');
    await fixture.exchange(get('/a') + get('/b?c') + ENDING);
    expect(fixture.unauthorized).toEqual(['/a', '/b?c']);
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
    // Only silence waits for the timeout: a busy machine must not reach it with the other faults.
    if (status === 504) fixture.timeoutMs = 300;
    upstream.respond = fault;
    const received = await fixture.exchange(ENDING.replace('GET', 'POST'));
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    if (status === 200) return;
    expect(received).toMatch(/Connection: close\r\n\r\nfailed$/);
    expect(answers).toEqual([['forwarded', status]]);
  });

  test('reads a head in pieces, and leaves one in many pieces to the server of Node', async () => {
    for (const [pieces, handledByNode] of [
      [2, 0],
      [30, 1],
    ] as const) {
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const socket = fixture.dial();
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
    // The pause must not end it.
    fixture.timeoutMs = 120_000;
    const socket = fixture.dial();
    socket.write(ENDING);
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
    const idle = fixture.dial();
    await accepted;
    const received = fixture.exchange(get('/slow'));
    const peer = await promise;
    relay.drain(3_000);
    await once(idle.resume(), 'close');
    peer.write(OK);
    expect(await received).toMatch(/Connection: close\r\n\r\nok$/);
  });
});
