import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { rawExchange } from './testing/raw-exchange.js';
import { RecordingUpstream } from './testing/recording-upstream.js';
import { PREFLIGHTS } from './testing/preflights.js';

const WHOAMI = '/_matrix/client/v3/account/whoami';
const RING = '/_matrix/client/v3/rooms/!r:b.example/send/m.rtc.notification/';
const IMPATIENCE_MS = 700;

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

describe.each([
  ['', true],
  [' without the relay', false],
])('the gateway%s', (_how, relay) => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;

  const toml = (extra = '') =>
    `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.2"]\n[gateway]\nupstream = "${upstream.url}"\nrelay = ${relay}\n${extra}`;

  /** Runs a test with a gateway that waits little. To it, any upstream of a busy machine could seem silent. */
  const withImpatient = async (test: (url: string) => Promise<void>): Promise<void> => {
    const impatient = await LimitsProcess.start(toml(`timeout_ms = ${IMPATIENCE_MS}\n`));
    try {
      await test(impatient.url);
    } finally {
      await impatient.dispose();
    }
  };

  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    limits = await LimitsProcess.prepare('');
    const registration = (token: string, limited: boolean) =>
      `id: ${token}\nas_token: ${token}\nhs_token: h\nsender_localpart: ${token}-bot\nrate_limited: ${limited}\nnamespaces: {users: [{exclusive: true, regex: "@(ghost|one|two):b\\\\.example"}]}\n`;
    await writeFile(join(limits.folder, 'free.yaml'), registration('free', false));
    await writeFile(join(limits.folder, 'bound.yaml'), registration('bound', true));
    await limits.configure(toml(`appservices = ["${limits.folder}/free.yaml", "${limits.folder}/bound.yaml"]\n`));
    await limits.launch();
  });
  afterAll(async () => {
    await limits.dispose();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.requests.length = 0;
    delete upstream.early;
    upstream.respond = ({ url, headers }, response) => {
      if (!url?.startsWith(WHOAMI)) return answer(response, 200, { event_id: '$e' });
      const token = headers.authorization?.slice('Bearer '.length) ?? '';
      if (token.startsWith('bad'))
        return answer(response, 401, { errcode: 'M_UNKNOWN_TOKEN', error: 'no', soft_logout: true });
      return answer(response, 200, { user_id: `@${token}:b.example`, device_id: 'DEV' });
    };
  });

  test.each([
    ['a request', 'GET /_matrix/client/v3/sync HTTP/1.1\r\n'],
    ['an upload', 'POST /_matrix/media/v3/upload HTTP/1.1\r\n'],
    ['an upgrade', 'GET /socket HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'],
  ])('refuses %s with two Host headers, of which servers take one or the other', async (_what, head) => {
    const received = await rawExchange(
      limits.url,
      `${head}Host: a\r\nhost: b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received).toContain('"errcode":"M_UNKNOWN"');
    expect(upstream.requests).toEqual([]);
  });

  describe('forwards', () => {
    test.each([
      ['/_matrix/client/v3/rooms/%21r%3Ab.example/send/m%2Eroom%2Emessage/t%2D1?a=%20b&c'],
      ['//_matrix/client/v3/rooms/!r:b.example/send/m.room.message/é%C3%A9/'.replace('é', '')],
      ['/_matrix/federation/v1/send/t%2D1'],
      ['/_matrix/client/v3/user/@a:b.example/rooms/!r:b.example/tags/u.work%2Fhome'],
      ['/_synapse/admin/v1/rooms?from=0'],
      ['/?'],
    ])('the target %s byte for byte', async (target) => {
      const body = ' {"pdus" : [ ], "big": 12345678901234567890, "f": 1.0 } ';
      expect((await call(limits.url, 'PUT', target, { body, token: 'plain' })).status).toBe(200);
      expect(upstream.last.target).toBe(target);
      expect(upstream.last.body.toString()).toBe(body);
    });

    test('headers as received, without those of the connection, and adds the address of the peer', async () => {
      const headers = {
        'X-CuStOm': 'Value',
        TE: 'trailers',
        Connection: 'X-Hop',
        'X-Hop': '1',
        'X-Forwarded-For': '6.6.6.6',
        'X-Real-IP': '6.6.6.6',
      };
      await call(limits.url, 'GET', '/_matrix/client/versions', { headers });
      const { rawHeaders } = upstream.last;
      expect(rawHeaders[rawHeaders.indexOf('X-CuStOm') + 1]).toBe('Value');
      for (const gone of ['TE', 'X-Hop', 'X-Real-IP']) expect(rawHeaders).not.toContain(gone);
      expect(rawHeaders[rawHeaders.indexOf('X-Forwarded-For') + 1]).toBe('127.0.0.1');
      expect(rawHeaders.filter((name) => name === 'Host')).toHaveLength(1);
    });

    test('responses as received: status, headers, bytes', async () => {
      upstream.respond = (_request, response) => {
        response.writeHead(418, [
          'X-Odd',
          'a',
          'X-Odd',
          'b',
          'Content-Type',
          'text/odd',
          'Access-Control-Allow-Origin',
          'own',
        ]);
        response.end(Buffer.from([0, 255, 1]));
      };
      const reply = await call(limits.url, 'GET', '/_matrix/client/v3/profile/x');
      expect(reply.status).toBe(418);
      expect(reply.headers['x-odd']).toBe('a, b');
      expect(reply.headers['access-control-allow-origin']).toBe('own');
      expect([...reply.bytes]).toEqual([0, 255, 1]);
    });

    test.each([
      ['a relayed request', 'GET', '/_matrix/client/v3/profile/x'],
      ['a buffered response', 'GET', '/_matrix/media/v3/config'],
      ['a request that a bound has read', 'PUT', '/_matrix/client/v3/user/@a:b.example/account_data/t'],
      ['a request outside of Matrix', 'GET', '/_synapse/admin/v1/rooms'],
      ['a preflight', 'OPTIONS', '/_matrix/client/v3/login'],
    ])(
      'the response to %s without headers for web pages that the upstream did not send',
      async (_what, method, path) => {
        const options = { token: 'a', ...(method === 'PUT' && { body: {} }) };
        const { status, headers } = await call(limits.url, method, path, options);
        expect(status).toBe(200);
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      },
    );

    test('an upload and a response while they are still arriving', async () => {
      const { promise, resolve } = Promise.withResolvers<[IncomingMessage, (text: string) => void]>();
      upstream.early = (incoming, response) => resolve([incoming, (text) => response.write(text)]);
      const outgoing = open('POST', '/_matrix/media/v3/upload', { Authorization: 'Bearer up' });
      outgoing.write('first');
      const [incoming, say] = await promise;
      expect(String((await once(incoming, 'data'))[0])).toBe('first');
      say('begun');
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      expect(String((await once(response, 'data'))[0])).toBe('begun');
      for (const stream of [incoming, response]) stream.on('error', () => undefined);
      outgoing.destroy();
      await new Promise((resolve) => incoming.once('close', resolve));
    });

    test('a body that it has read itself, as received', async () => {
      const outgoing = open('POST', '/_matrix/client/v3/login', { 'Transfer-Encoding': 'chunked' });
      outgoing.write('{ "type": "m.login.password",');
      outgoing.end(' "user": "x", "password": "y", "n": 1.0 }');
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).toBe(200);
      expect(upstream.last.body.toString()).toBe(
        '{ "type": "m.login.password", "user": "x", "password": "y", "n": 1.0 }',
      );
    });

    test('a response that arrives before the end of the body, and then the next request', async () => {
      upstream.early = (_incoming, response) => answer(response, 403, { errcode: 'M_FORBIDDEN', error: 'quota' });
      const refused = await call(limits.url, 'POST', '/_matrix/media/v3/upload', {
        token: 'q',
        body: Buffer.alloc(5_000_000),
      });
      expect([refused.status, refused.body.errcode]).toEqual([403, 'M_FORBIDDEN']);
      delete upstream.early;
      expect((await call(limits.url, 'GET', '/_matrix/client/versions')).status).toBe(200);
    });

    test('HEAD, without a body', async () => {
      const reply = await call(limits.url, 'HEAD', '/_matrix/client/versions');
      expect([reply.status, reply.bytes.length]).toEqual([200, 0]);
      expect(upstream.last.method).toBe('HEAD');
    });

    test('a long poll for its own timeout', async () => {
      upstream.respond = (_request, response) =>
        void setTimeout(() => answer(response, 200, { next_batch: 's1' }), 2 * IMPATIENCE_MS);
      await withImpatient(async (url) => {
        const reply = await call(url, 'GET', '/_matrix/client/v3/sync?timeout=60000', { token: 'poll' });
        expect(reply.body).toEqual({ next_batch: 's1' });
      });
    });

    test.each(PREFLIGHTS)('the preflight of %s, with the response of the upstream', async (path) => {
      upstream.respond = (_request, response) => response.writeHead(204, { 'X-Preflight': 'own' }).end();
      const { status, headers } = await call(limits.url, 'OPTIONS', path);
      expect([status, headers['x-preflight']]).toEqual([204, 'own']);
      expect(upstream.last).toMatchObject({ method: 'OPTIONS', target: path });
    });

    test('upgraded connections in both directions', async () => {
      upstream.upgrade = (incoming, socket) => {
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Path: ${incoming.url}\r\n\r\n`,
        );
        socket.pipe(socket);
      };
      const { hostname, port } = new URL(limits.url);
      const socket = connect(Number(port), hostname);
      socket.write('GET /ws%2Fx HTTP/1.1\r\nHost: b\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n');
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
        if (received.endsWith('\r\n\r\n')) socket.write('hello');
        if (received.endsWith('hello')) socket.end();
      });
      await once(socket, 'close');
      expect(received).toMatch(/^HTTP\/1\.1 101 [\s\S]*X-Path: \/ws%2Fx\r\n[\s\S]*hello$/);
    });
  });

  describe('an upstream that fails', () => {
    test('to respond gives 504 in the Matrix format', async () => {
      upstream.respond = () => undefined;
      await withImpatient(async (url) => {
        const reply = await call(url, 'GET', '/_matrix/client/v3/capabilities');
        expect([reply.status, reply.body.errcode]).toEqual([504, 'M_UNKNOWN']);
        expect(reply.headers['access-control-allow-origin']).toBe('*');
      });
    });

    test('by closing the connection gives 502', async () => {
      upstream.respond = (incoming) => incoming.socket.destroy();
      const reply = await call(limits.url, 'POST', '/_matrix/client/v3/createRoom', { body: {}, token: 'x' });
      expect([reply.status, reply.body.errcode]).toEqual([502, 'M_UNKNOWN']);
    });

    test('does not turn a login into a failed attempt', async () => {
      upstream.respond = (_request, response) => answer(response, 500, { errcode: 'M_UNKNOWN', error: 'x' });
      const body = { type: 'm.login.password', user: 'unlucky', password: 'x' };
      for (let i = 0; i < 20; i++)
        expect((await call(limits.url, 'POST', '/_matrix/client/v3/login', { body })).status).toBe(500);
    });

    test('by being down gives 502 immediately', async () => {
      const gone = await RecordingUpstream.listen();
      const { url } = gone;
      await gone.close();
      const alone = await LimitsProcess.start(`[gateway]\nupstream = "${url}"\n`);
      const reply = await call(alone.url, 'PUT', `${RING}1`, { body: {}, token: 't' });
      await alone.dispose();
      expect([reply.status, reply.body.errcode]).toEqual([502, 'M_UNKNOWN']);
    });

    test('leaves no secret in the log', async () => {
      upstream.respond = (incoming) => incoming.socket.destroy();
      const before = limits.log.length;
      const target = '/_matrix/client/v1/delayed_events/secret-delay-id/restart?access_token=secret-token';
      expect((await call(limits.url, 'POST', target, { body: {} })).status).toBe(502);
      const line = await limits.logged(({ msg }) => msg === 'the upstream failed', before);
      expect(JSON.stringify(line)).toContain('/_matrix/client/v1/delayed_events/');
      expect(JSON.stringify(line)).not.toContain('secret');
    });
  });

  describe('tokens', () => {
    test('are looked up once and cached, even for parallel requests', async () => {
      await Promise.all(
        Array.from({ length: 8 }, (_, i) => call(limits.url, 'PUT', `${RING}${i}`, { body: {}, token: 'once' })),
      );
      expect(upstream.countOf(WHOAMI)).toBe(1);
    });

    test('that the upstream refuses are refused in its own words, and not cached', async () => {
      for (let i = 0; i < 2; i++) {
        const reply = await call(limits.url, 'PUT', `${RING}1`, { body: {}, token: 'bad' });
        expect([reply.status, reply.body]).toEqual([
          401,
          { errcode: 'M_UNKNOWN_TOKEN', error: 'no', soft_logout: true },
        ]);
      }
      expect(upstream.countOf(WHOAMI)).toBe(2);
    });

    test('are dropped when they are revoked, and after any 401', async () => {
      const ring = (i: number) => call(limits.url, 'PUT', `${RING}${i}`, { body: {}, token: 'leaving' });
      await ring(1);
      await call(limits.url, 'POST', '/_matrix/client/v3/logout', { token: 'leaving', body: {} });
      await ring(2);
      expect(upstream.countOf(WHOAMI)).toBe(2);
      const usual = upstream.respond;
      upstream.respond = (_request, response) => answer(response, 401, { errcode: 'M_UNKNOWN_TOKEN', error: 'no' });
      await call(limits.url, 'GET', '/_matrix/client/v3/joined_rooms', { token: 'leaving' });
      upstream.respond = usual;
      await ring(3);
      expect(upstream.countOf(WHOAMI)).toBe(3);
    });
  });

  describe('application services', () => {
    const rings = async (token: string, query: string) => {
      const statuses = [];
      for (let i = 0; i < 12; i++) {
        statuses.push((await call(limits.url, 'PUT', `${RING}${i}${query}`, { body: {}, token })).status);
      }
      return statuses.filter((status) => status === 429).length;
    };

    test('with rate_limited: false are exempt for the users they act as', async () => {
      expect(await rings('free', '?user_id=@ghost:b.example')).toBe(0);
      expect(await rings('free', '')).toBe(2);
    });

    test('without it are counted for each user they act as', async () => {
      expect(await rings('bound', '?user_id=@one:b.example')).toBe(2);
      expect(await rings('bound', '?user_id=@two:b.example')).toBe(2);
      expect(upstream.countOf(WHOAMI)).toBe(0);
    });

    test('cannot act as other users, or use up their budget', async () => {
      const usual = upstream.respond;
      upstream.respond = (incoming, response) =>
        decodeURIComponent(incoming.url ?? '').includes('user_id=@nora')
          ? answer(response, 403, { errcode: 'M_FORBIDDEN', error: 'not your user' })
          : usual(incoming, response);
      const reply = await call(limits.url, 'PUT', `${RING}1?user_id=@nora:b.example`, { body: {}, token: 'free' });
      expect([reply.status, reply.body.error]).toEqual([403, 'not your user']);
      expect(upstream.countOf(RING)).toBe(0);
    });

    test('without a registration here are one caller per asserted user', async () => {
      upstream.respond = ({ url = '' }, response) => {
        const userId = new URL(url, 'http://b').searchParams.get('user_id');
        answer(response, 200, url.startsWith(WHOAMI) ? { user_id: userId } : { filter_id: 'f' });
      };
      for (const user of ['@three:b.example', '@four:b.example']) {
        const target = `/_matrix/client/v3/user/${user}/filter?user_id=${user}`;
        expect((await call(limits.url, 'POST', target, { body: {}, token: 'untold' })).status).toBe(200);
      }
    });

    test('hold one-time keys on the devices they act as', async () => {
      upstream.respond = (_request, response) => answer(response, 200, { one_time_key_counts: { a: 990 } });
      const upload = (query: string, n = 11) =>
        call(limits.url, 'POST', `/_matrix/client/v3/keys/upload?user_id=@one:b.example&${query}`, {
          body: { one_time_keys: Object.fromEntries(Array.from({ length: n }, (_, i) => [`a:${i}`, 'x'])) },
          token: 'bound',
        });
      for (const device of ['device_id=D', 'org.matrix.msc3202.device_id=E']) {
        expect((await upload(device)).body.errcode).toBe('M_LIMIT_EXCEEDED');
        expect(upstream.last.target).toContain(device);
      }
      expect((await upload('device_id=D&org.matrix.msc3202.device_id=E')).body.errcode).toBe('M_INVALID_PARAM');
      expect((await upload('device_id=D', 10)).status).toBe(200);
    });
  });

  describe('the held objects', () => {
    test('are loaded from the upstream, so that a cap reached before the gateway was installed applies', async () => {
      upstream.respond = ({ url, method }, response) => {
        if (url?.startsWith(WHOAMI)) return answer(response, 200, { user_id: '@old:b.example', device_id: 'DEV' });
        const pushers = Array.from({ length: 100 }, (_, i) => ({ app_id: 'app', pushkey: `k${i}` }));
        if (method === 'GET' && url?.endsWith('/pushers')) return answer(response, 200, { pushers });
        if (url?.endsWith('/keys/upload')) return answer(response, 200, { one_time_key_counts: { a: 600, b: 390 } });
        const events = Array.from({ length: 100 }, () => ({ room_id: '!r:b.example' }));
        if (url?.endsWith('/delayed_events')) return answer(response, 200, { delayed_events: events });
        return answer(response, 200, { delay_id: 'd' });
      };
      const as = { token: 'old' };
      const pusher = (pushkey: string) =>
        call(limits.url, 'POST', '/_matrix/client/v3/pushers/set', {
          ...as,
          body: { pushkey, app_id: 'app', kind: 'http' },
        });
      expect((await pusher('new')).body.errcode).toBe('M_LIMIT_EXCEEDED');
      expect((await pusher('k7')).status).toBe(200);
      const keys = (n: number) => ({
        one_time_keys: Object.fromEntries(Array.from({ length: n }, (_, i) => [`c:${i}`, 'x'])),
      });
      const upload = (n: number) =>
        call(limits.url, 'POST', '/_matrix/client/v3/keys/upload', { ...as, body: keys(n) });
      expect((await upload(11)).body.errcode).toBe('M_LIMIT_EXCEEDED');
      expect((await upload(10)).status).toBe(200);
      const later = (room: string) =>
        call(limits.url, 'PUT', `/_matrix/client/v3/rooms/${room}/send/m.x/1?org.matrix.msc4140.delay=1000`, {
          ...as,
          body: {},
        });
      expect((await later('!r:b.example')).body.errcode).toBe('M_LIMIT_EXCEEDED');
      expect((await later('!other:b.example')).status).toBe(200);
    });

    test('free the slot of a deleted pusher immediately', async () => {
      const held = new Set(Array.from({ length: 100 }, (_, i) => `k${i}`));
      upstream.respond = ({ url, method }, response) => {
        if (url?.startsWith(WHOAMI)) return answer(response, 200, { user_id: '@pushy:b.example', device_id: 'DEV' });
        const pushers = [...held].map((pushkey) => ({ app_id: 'app', pushkey }));
        if (method === 'GET' && url?.endsWith('/pushers')) return answer(response, 200, { pushers });
        held.delete('k7');
        return answer(response, 200, {});
      };
      const set = (pushkey: string, kind: string | null) =>
        call(limits.url, 'POST', '/_matrix/client/v3/pushers/set', {
          token: 'pushy',
          body: { pushkey, app_id: 'app', kind },
        });
      expect((await set('new', 'http')).body.errcode).toBe('M_LIMIT_EXCEEDED');
      expect((await set('k7', null)).status).toBe(200);
      expect((await set('new', 'http')).status).toBe(200);
    });

    test('are queried with the address and the user agent of the caller, and without setting them online', async () => {
      upstream.respond = ({ url, method }, response) => {
        if (url?.startsWith(WHOAMI)) return answer(response, 200, { user_id: '@asked:b.example', device_id: 'DEV' });
        if (url?.includes('/account_data/') && method === 'GET')
          return answer(response, 404, { errcode: 'M_NOT_FOUND' });
        return answer(response, 200, {});
      };
      const headers = { 'User-Agent': 'Element/1', 'X-Forwarded-For': '203.0.113.9' };
      const path = '/_matrix/client/v3/user/@asked:b.example/account_data/m.x';
      await call(limits.url, 'PUT', path, { token: 'asked', body: { a: 1 }, headers });
      const [whoami] = upstream.requests.filter(({ target }) => target.startsWith(WHOAMI));
      const [sync] = upstream.requests.filter(({ target }) => target.includes('/sync?'));
      for (const query of [whoami, sync]) {
        expect(query?.rawHeaders).toEqual(expect.arrayContaining(['User-Agent', 'Element/1', 'X-Forwarded-For']));
        const forwarded = query?.rawHeaders[query.rawHeaders.indexOf('X-Forwarded-For') + 1];
        expect(forwarded).toBe('127.0.0.1');
      }
      expect(sync?.target).toContain('set_presence=offline');
    });

    test('include those of a dehydrated device', async () => {
      const put = (n: number) =>
        call(limits.url, 'PUT', '/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device', {
          body: {
            device_id: 'DRY',
            one_time_keys: Object.fromEntries(Array.from({ length: n }, (_, i) => [`a:${i}`, 'x'])),
          },
          token: 'dry',
        });
      expect((await put(1000)).status).toBe(200);
      expect((await put(1001)).body.errcode).toBe('M_LIMIT_EXCEEDED');
    });

    test('cannot be stored on another device through the old path', async () => {
      const usual = upstream.respond;
      upstream.respond = (incoming, response) =>
        incoming.url?.includes('/keys/upload')
          ? answer(response, 200, { one_time_key_counts: {} })
          : usual(incoming, response);
      const upload = (device: string) =>
        call(limits.url, 'POST', `/_matrix/client/r0/keys/upload/${device}`, {
          body: { one_time_keys: { 'a:1': 'x' } },
          token: 'keys',
        });
      expect((await upload('OTHER')).body.errcode).toBe('M_INVALID_PARAM');
      expect((await upload('DEV')).status).toBe(200);
    });

    test('count only when the upstream has accepted them', async () => {
      upstream.respond = ({ url }, response) => {
        if (url?.startsWith(WHOAMI)) return answer(response, 200, { user_id: '@unlucky:b.example', device_id: 'DEV' });
        if (url?.endsWith('/pushers')) return answer(response, 200, { pushers: [] });
        return answer(response, 500, { errcode: 'M_UNKNOWN', error: 'disk full' });
      };
      for (let i = 0; i < 110; i++) {
        const body = { pushkey: `k${i}`, app_id: 'app', kind: 'http' };
        expect(
          (await call(limits.url, 'POST', '/_matrix/client/v3/pushers/set', { token: 'unlucky', body })).status,
        ).toBe(500);
      }
    });

    test('advertise the smaller upload size, without other changes to the response', async () => {
      const own = (text: string) => {
        upstream.respond = (_request, response) =>
          response.writeHead(200, { 'Content-Type': 'application/json' }).end(text);
        return call(limits.url, 'GET', '/_matrix/client/v1/media/config', { token: 'm' });
      };
      expect((await own('{"m.upload.size": 1000,"x":1.0}')).bytes.toString()).toBe('{"m.upload.size": 1000,"x":1.0}');
      expect((await own('{"m.upload.size":99999999999,"x":1.0}')).bytes.toString()).toBe(
        '{"m.upload.size":52428800,"x":1.0}',
      );
      expect((await own('{"x":12345678901234567890}')).bytes.toString()).toBe(
        '{"x":12345678901234567890,"m.upload.size":52428800}',
      );
    });

    test.each([
      ['GET', '/_matrix/client/v1/media/config', 401, '{"errcode": "M_MISSING_TOKEN","error":"whose?"}'],
      ['GET', '/_matrix/media/v3/config', 404, '{"errcode":"M_UNRECOGNIZED","error":"old",  "n":1.0}'],
      ['GET', '/_matrix/media/r0/config', 403, '{"errcode":"M_FORBIDDEN","error":"x","m.upload.size":99999999999}'],
      ['GET', '/_matrix/client/v1/media/config', 500, '<html>oops</html>'],
      ['GET', '/_matrix/client/v1/media/config', 200, '<html>hello</html>'],
      ['HEAD', '/_matrix/client/v1/media/config', 200, ''],
    ])('%s %s is unchanged when it is not a configuration: %i %s', async (method, target, status, text) => {
      upstream.respond = (_request, response) => response.writeHead(status, { 'X-Own': 'yes' }).end(text);
      const reply = await call(limits.url, method, target);
      expect([reply.status, reply.bytes.toString(), reply.headers['x-own']]).toEqual([status, text, 'yes']);
    });
  });

  describe('federation', () => {
    const send = (txn: string, pdus: number, edus = 0) =>
      call(limits.url, 'PUT', `/_matrix/federation/v1/send/${txn}`, {
        body: { origin: 'a.example', pdus: Array<object>(pdus).fill({}), edus: Array<object>(edus).fill({}) },
      });

    test('accepts 50 PDUs, a transaction ID of 255 bytes and any number of EDUs', async () => {
      expect((await send('a'.repeat(255), 50, 101)).status).toBe(200);
    });

    test.each([
      ['51 PDUs', '1', 51],
      ['a transaction ID of 256 bytes', 'a'.repeat(256), 1],
      ['a transaction ID of 128 characters and 256 bytes', '%C3%A9'.repeat(128), 1],
    ])('refuses %s', async (_what, txn, pdus) => {
      const reply = await send(txn, pdus);
      expect([reply.status, reply.body.errcode]).toEqual([400, 'M_BAD_JSON']);
      expect(upstream.requests).toHaveLength(0);
    });

    test.each([['{"pdus":[],"pdus":[1]}'], ['{"PDUs":[],"pdus":[]}'], ['{"pdus":[],"pdu\u017f":[]}'], ['{"edus":[]}']])(
      'refuses %s',
      async (body) => {
        const reply = await call(limits.url, 'PUT', '/_matrix/federation/v1/send/1', { body });
        expect(reply.body.errcode).toBe('M_BAD_JSON');
      },
    );

    test('accepts a transaction of several MiB', async () => {
      const body = { pdus: Array<object>(50).fill({ x: 'y'.repeat(60_000) }) };
      expect((await call(limits.url, 'PUT', '/_matrix/federation/v1/send/big', { body })).status).toBe(200);
    });
  });

  function open(method: string, path: string, headers: Record<string, string>): ClientRequest {
    const { hostname, port } = new URL(limits.url);
    const outgoing = request({ hostname, port, method, path, headers });
    outgoing.on('error', () => undefined);
    return outgoing;
  }
});
