import 'reflect-metadata';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { Edge } from '../testing/edge.js';
import { errorBody } from './domain-error.filter.js';

describe('a request that is refused early', () => {
  let edge: Edge;

  beforeAll(async () => {
    edge = await new Edge().open();
  });
  afterAll(() => edge.close());

  /** Sends bytes as they are, and reads until the service closes the connection. */
  const exchange = (request: string | Buffer): Promise<{ status: number; body: string; text: string }> =>
    new Promise((resolve, reject) => {
      const socket = connect(edge.service.port(), '127.0.0.1', () => socket.write(request));
      let text = '';
      socket.on('data', (data) => (text += String(data)));
      socket.on('error', reject);
      socket.on('close', () =>
        resolve({ status: Number(text.slice(9, 12)), body: text.slice(text.indexOf('\r\n\r\n') + 4), text }),
      );
    });

  const HEAD = 'Host: localhost:8006\r\nConnection: close\r\n';
  const HANDSHAKE = 'Host: localhost:8006\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  const KEY = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

  test.each([
    ['has no Host', 'GET /api/vms HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'INVALID_INPUT'],
    ['is not HTTP', 'HELLO\r\n\r\n', 400, 'INVALID_INPUT'],
    ['has an unknown method', `BREW /api/vms HTTP/1.1\r\n${HEAD}\r\n`, 400, 'INVALID_INPUT'],
    ['has a method without routes', `PROPFIND /api/vms HTTP/1.1\r\n${HEAD}\r\n`, 404, 'PATH_NOT_FOUND'],
    ['is a CONNECT', `CONNECT localhost:80 HTTP/1.1\r\n${HEAD}\r\n`, 404, 'PATH_NOT_FOUND'],
    ['has an unknown expectation', `GET /api/vms HTTP/1.1\r\n${HEAD}Expect: tea\r\n\r\n`, 417, 'EXPECTATION_FAILED'],
    [
      'has too large headers',
      `GET / HTTP/1.1\r\n${HEAD}X-Large: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['is a handshake without a key', `GET /api/vnc/default/db HTTP/1.1\r\n${HANDSHAKE}\r\n`, 400, 'INVALID_INPUT'],
    [
      'is a handshake of another version',
      `GET /api/vnc/default/db HTTP/1.1\r\n${HANDSHAKE}${KEY}Sec-WebSocket-Version: 1\r\n\r\n`,
      400,
      'INVALID_INPUT',
    ],
    [
      'is a handshake with POST',
      `POST /api/vnc/default/db HTTP/1.1\r\n${HANDSHAKE}${KEY}Sec-WebSocket-Version: 13\r\n\r\n`,
      400,
      'INVALID_INPUT',
    ],
    ['has an undecodable query', `GET /api/vms?q=%ff HTTP/1.1\r\n${HEAD}\r\n`, 400, 'INVALID_INPUT'],
    ['has bytes beyond ASCII in its URL', `GET /api/vms?q=\u00e4 HTTP/1.1\r\n${HEAD}\r\n`, 400, 'INVALID_INPUT'],
    ['has too many parameters', `GET /api/vms?${'a&'.repeat(60)} HTTP/1.1\r\n${HEAD}\r\n`, 400, 'INVALID_INPUT'],
  ])('because it %s has the error body', async (_what, request, status, code) => {
    const answer = await exchange(Buffer.from(request, 'latin1'));
    expect([answer.status, (JSON.parse(answer.body) as { code: string }).code]).toEqual([status, code]);
    expect(answer.text).toMatch(/content-type: application\/json/i);
  });

  test('because it took too long has the error body', () => {
    const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    expect(errorBody(timeout)).toMatchObject({ status: 408, body: { code: 'REQUEST_TIMEOUT' } });
  });

  test.each([
    ['its headers', 'GET /api/vms HTTP/1.1\r\nHost: localhost\r\nX-Half: '],
    [
      'its body',
      `POST /api/vms HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"name"`,
    ],
  ])('because the client never finished %s gets 408 with the error body', async (_what, unfinished) => {
    const server = edge.service.app.getHttpServer() as Server;
    const { requestTimeout, headersTimeout } = server;
    // The server reads the interval of its check when it begins to listen.
    Object.assign(server, { requestTimeout: 100, headersTimeout: 50, connectionsCheckingInterval: 20 });
    server.emit('listening');
    try {
      const answer = await exchange(unfinished);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        408,
        { error: expect.any(String), code: 'REQUEST_TIMEOUT' },
      ]);
      expect(answer.text).toMatch(/connection: close/i);
    } finally {
      Object.assign(server, { requestTimeout, headersTimeout });
    }
  });

  test('is none that merely offers an upgrade to HTTP/2', async () => {
    const upgrade = 'Host: localhost:8006\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n';
    const { status, body } = await exchange(`GET /api/tasks HTTP/1.1\r\n${upgrade}HTTP2-Settings: AAM\r\n\r\n`);
    expect([status, body]).toEqual([200, '[]']);
  });

  test.each([
    ['many unknown fields', `{${Array.from({ length: 60_000 }, (_, index) => `"f${index}":1`).join()}}`],
    ['a long list', `{"name":[${'1,'.repeat(60_000)}1]}`],
    ['deep nesting', `{"name":${'['.repeat(4000)}${']'.repeat(4000)}}`],
    ['deep objects', `${'{"a":'.repeat(4000)}1${'}'.repeat(4000)}`],
  ])('with %s is refused before it is validated, which would take seconds', async (_what, body) => {
    const { status, json } = await edge.send('POST', '/api/vms', body);
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(json.error).toMatch(/^The body must not be (larger than 100 fields|nested deeper than 10 levels)/);
  });

  test('accepts brackets inside strings', async () => {
    const body = { name: 'new', pvc: 'volume-1', cloudInit: '[{"'.repeat(100) };
    expect((await edge.send('POST', '/api/vms?dryRun=true', body)).status).toBe(200);
  });

  test('with a body that is not UTF-8 is refused', async () => {
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    const head = `POST /api/vms HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { status, body: answer } = await exchange(Buffer.concat([Buffer.from(head), body]));
    expect([status, JSON.parse(answer)]).toEqual([
      400,
      { error: 'The body is not valid UTF-8.', code: 'INVALID_INPUT' },
    ]);
  });

  test.each([
    ['POST', '/api/vms/default/web/start'],
    ['DELETE', '/api/vms/default/web'],
    ['POST', '/api/cts/default/box/start'],
    ['DELETE', '/api/cts/default/box'],
    ['POST', '/api/doctor/fix'],
  ])('with a field that %s %s does not take is refused', async (method, path) => {
    const { status, json } = await edge.send(method, path, { force: true });
    expect([status, json.code, json.error]).toEqual([400, 'INVALID_INPUT', 'force is not a known field.']);
    const empty = await edge.send(method, `${path}?dryRun=true`, {});
    expect(empty.json.code).not.toBe('INVALID_INPUT');
  });

  test('with a name that ends with a dash is refused', async () => {
    const { status, json } = await edge.send('POST', '/api/vms', { name: 'web-', pvc: 'volume-1' });
    expect([status, json.code]).toEqual([400, 'INVALID_NAME']);
  });
});
