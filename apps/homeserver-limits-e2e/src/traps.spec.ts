import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { inBothModes } from './testing/modes.js';
import { call } from './testing/http-client.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';
import { rawExchange } from './testing/raw-exchange.js';
import { PREFLIGHTS } from './testing/preflights.js';

inBothModes('the traps of the stack', '[limits]\naccount_data_per_user = 3\n', (system) => {
  const url = () => system().url;
  let user: MatrixUser;
  beforeEach(async () => {
    user = await MatrixUser.register(url());
  });

  test('a parameter of 255 bytes and more is accepted by the router', async () => {
    const room = await user.createRoom();
    const txn = 'é'.repeat(400);
    const sent = await user.call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.x/${encodeURIComponent(txn)}`, {});
    expect(sent.status).toBe(200);
  });

  test.each([
    ['/_matrix/client/v3/%6Cogin'],
    ['/_matrix/client/v3/login/'],
    ['//_matrix//client/v3///login'],
    ['/_matrix/client/v2_alpha/login'],
  ])('%s is a login with its bound', async (path) => {
    const name = `none${freshAddress()}`;
    const body = { type: 'm.login.password', user: name, password: 'x' };
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await call(url(), 'POST', path, { body, from: freshAddress() })).status);
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
  });

  test.each([
    ['/_matrix/client/v3/%zz'],
    ['/_matrix/client/v3/%ff'],
    ['/_matrix/client/v3%2Flogin'],
    ['/_matrix/client/v3/x/../login'],
    ['/_matrix/client/v3/x/%2e%2e/login'],
    ['/_matrix/client/v3\\login'],
  ])('%s is unknown, in the Matrix format', async (path) => {
    const reply = await call(url(), 'POST', path, { body: {} });
    expect([reply.status, reply.body.errcode]).toEqual([404, 'M_UNRECOGNIZED']);
    expect(reply.headers['access-control-allow-origin']).toBe('*');
  });

  test('an unknown path is 404 and a wrong method 405, both M_UNRECOGNIZED', async () => {
    const unknown = await call(url(), 'GET', '/_matrix/client/v3/nothing/here');
    expect([unknown.status, unknown.body.errcode]).toEqual([404, 'M_UNRECOGNIZED']);
    for (const method of ['PATCH', 'DELETE', 'PUT']) {
      const wrong = await call(url(), method, '/_matrix/client/v3/login');
      expect([wrong.status, wrong.body.errcode]).toEqual([405, 'M_UNRECOGNIZED']);
    }
    const exotic = await call(url(), 'PURGE', '/_matrix/client/v3/login');
    expect(exotic.body.errcode).toBe('M_UNRECOGNIZED');
  });

  test.each([['{"__proto__":{"x":1}}'], ['{"constructor":{"prototype":{"x":1}}}']])(
    '%s is plain data',
    async (text) => {
      expect((await user.call('PUT', user.path('account_data/odd'), text)).status).toBe(200);
      expect((await user.call('GET', user.path('account_data/odd'))).bytes.toString()).toBe(text);
    },
  );

  test.each([
    ['{"a":1,"a":2}', 'M_BAD_JSON'],
    ['{"a":', 'M_NOT_JSON'],
    ['', 'M_NOT_JSON'],
    ['\ufeff{}', 'M_NOT_JSON'],
    ['[]', 'M_BAD_JSON'],
    ['null', 'M_BAD_JSON'],
  ])('the body %j is refused with %s', async (text, errcode) => {
    const reply = await user.call('PUT', user.path('account_data/odd'), text);
    expect([reply.status, reply.body.errcode]).toEqual([400, errcode]);
  });

  test('bytes that are not UTF-8 are M_NOT_JSON', async () => {
    const reply = await user.call('PUT', user.path('account_data/odd'), Buffer.from([0x7b, 0xff, 0x7d]));
    expect(reply.body.errcode).toBe('M_NOT_JSON');
  });

  test.each([
    [undefined],
    ['application/json'],
    ['application/x-www-form-urlencoded'],
    ['text/plain'],
    ['nonsense;;'],
    ['application/xml'],
  ])('a body is parsed as JSON with the Content-Type %s', async (type) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
    const reply = await user.call('PUT', user.path('account_data/t'), '{"a":"b=c&d"}', headers);
    expect(reply.status).toBe(200);
    expect((await user.call('GET', user.path('account_data/t'))).body).toEqual({ a: 'b=c&d' });
  });

  test('an empty body with Content-Type: application/json is {} where the body is optional', async () => {
    const json = { 'Content-Type': 'application/json' };
    const room = await user.createRoom({ preset: 'public_chat' });
    expect((await user.call('POST', `/_matrix/client/v3/rooms/${room}/join`, '', json)).status).toBe(200);
    expect((await user.call('POST', '/_matrix/client/v3/keys/upload', '', json)).status).toBe(200);
    expect((await user.call('POST', '/_matrix/client/v3/logout', '', json)).status).toBe(200);
    expect((await user.call('GET', '/_matrix/client/v3/account/whoami')).body.errcode).toBe('M_UNKNOWN_TOKEN');
  });

  test('a body beyond its limit is 413 in the Matrix format', async () => {
    const body = `{"type":"m.login.password","x":"${'x'.repeat(70_000)}"}`;
    const reply = await call(url(), 'POST', '/_matrix/client/v3/login', { body });
    expect([reply.status, reply.body.errcode]).toEqual([413, 'M_TOO_LARGE']);
  });

  test('a body of more than 1 MiB is accepted where its limit allows it', async () => {
    const keys = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`a:${i}`, 'k'.repeat(1300)]));
    expect((await user.call('POST', '/_matrix/client/v3/keys/upload', { one_time_keys: keys })).status).toBe(200);
  });

  test('a success is 200, never 201', async () => {
    expect((await user.call('POST', user.path('filter'), {})).status).toBe(200);
  });

  test.each(PREFLIGHTS)('a browser may ask before %s', async (path) => {
    const headers = { Origin: 'https://call.example', 'Access-Control-Request-Method': 'POST' };
    const { status, headers: received } = await call(url(), 'OPTIONS', path, { headers });
    expect(status).toBe(200);
    expect(received).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': expect.stringContaining('Authorization'),
    });
  });

  test('GET of an endpoint that only has POST is 405', async () => {
    const path = '/_matrix/client/v3/user/@a:b/openid/request_token';
    const { status, body } = await call(url(), 'GET', path);
    expect([status, body.errcode]).toEqual([405, 'M_UNRECOGNIZED']);
  });

  test('OPTIONS runs nothing and counts nothing', async () => {
    const from = freshAddress();
    for (let i = 0; i < 40; i++) {
      const reply = await call(url(), 'OPTIONS', '/_matrix/client/v3/login', { from });
      expect(reply.status).toBe(200);
      expect(reply.headers['access-control-allow-methods']).toContain('PUT');
      expect(reply.headers['access-control-allow-headers']).toContain('Authorization');
    }
    const body = { type: 'm.login.password', user: `o${from}`, password: 'x' };
    expect((await call(url(), 'POST', '/_matrix/client/v3/login', { body, from })).status).toBe(403);
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400, 'M_UNKNOWN'],
    [
      'two lengths',
      'POST /_matrix/client/v3/login HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'M_UNKNOWN',
    ],
    ['headers without end', `GET / HTTP/1.1\r\nHost: b\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'M_TOO_LARGE'],
  ])('%s is refused in the Matrix format, too', async (_what, request, status, errcode) => {
    const [head = '', body = ''] = (await rawExchange(url(), request)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toContain('Access-Control-Allow-Origin: *');
    expect(JSON.parse(body).errcode).toBe(errcode);
  });

  test('an unknown expectation is ignored', async () => {
    const request = 'GET /_matrix/client/versions HTTP/1.1\r\nHost: b\r\nConnection: close\r\nExpect: the-best\r\n\r\n';
    expect(await rawExchange(url(), request)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('pipelined requests get their responses in order', async () => {
    const login = 'POST /_matrix/client/v3/login HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\n\r\n???';
    const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: b\r\n${headers}\r\n`;
    const received = await rawExchange(
      url(),
      get('/_matrix/client/versions') + login + get('/_matrix/client/v3/login', 'Connection: close\r\n'),
    );
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '400', '200']);
    expect(received.indexOf('M_NOT_JSON')).toBeLessThan(received.indexOf('m.login.password'));
  });

  test('HTTP/1.0 and a body with the encoding identity are served', async () => {
    expect(await rawExchange(url(), 'GET /_matrix/client/versions HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    const headers = { 'Content-Encoding': 'identity' };
    expect((await user.call('PUT', user.path('account_data/e'), '{"a":1}', headers)).status).toBe(200);
  });

  test('a compressed body is not JSON, even if another server would decompress it', async () => {
    const body = gzipSync('{"type":"m.login.password","user":"alice","password":"x"}');
    const reply = await call(url(), 'POST', '/_matrix/client/v3/login', {
      body,
      headers: { 'Content-Encoding': 'gzip' },
    });
    expect([reply.status, reply.body.errcode]).toEqual([400, 'M_NOT_JSON']);
  });

  test.each([
    ['GET', '/_matrix/client/versions', 200],
    ['GET', '/_matrix/client/v3/account/whoami', 401],
    ['PUT', '/_matrix/client/v3/user/@other:b.example/account_data/t', 403],
    ['GET', '/_matrix/client/v3/nothing', 404],
    ['PATCH', '/_matrix/client/v3/login', 405],
    ['OPTIONS', '/_matrix/client/v3/nothing', 200],
    ['HEAD', '/_matrix/client/v3/login', 200],
  ])('web pages may read the response to %s %s', async (method, path, status) => {
    const token = status === 403 ? user.token : undefined;
    const reply = await call(url(), method, path, { token, ...(method === 'PUT' && { body: {} }) });
    expect(reply.status).toBe(status);
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    expect(reply.headers['access-control-allow-methods']).toContain('PUT');
    expect(reply.headers['access-control-allow-headers']).toContain('Authorization');
    expect(reply.headers['access-control-expose-headers']).toContain('Retry-After');
  });

  test('a caller who hangs up in the middle causes no error', async () => {
    const { hostname, port } = new URL(url());
    const socket = connect(Number(port), hostname);
    const head = `POST /_matrix/media/v3/upload HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer ${user.token}\r\nContent-Length: 1000\r\n\r\nabc`;
    await new Promise<void>((resolve) => socket.write(head, () => resolve()));
    socket.destroy();
    expect((await user.call('GET', '/_matrix/client/v3/account/whoami')).status).toBe(200);
    expect(system().limits.log.some(({ msg }) => msg === 'a request failed')).toBe(false);
  });
});
