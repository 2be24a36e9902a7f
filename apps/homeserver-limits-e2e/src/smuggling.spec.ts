import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { rawExchange } from './testing/raw-exchange.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

/** A request that only a bound may let through, hidden in something else. */
const HIDDEN =
  'POST /_matrix/client/v3/user/@a:b.example/openid/request_token HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}';

describe('what a request may hide from the gateway', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    limits = await LimitsProcess.start(`[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\n`);
  });
  afterAll(async () => {
    await limits.dispose();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.requests.length = 0;
  });

  test.each([['DELETE'], ['GET'], ['OPTIONS'], ['PUT']])(
    'is no second request in the body of a %s whose length Connection calls its own',
    async (method) => {
      const head = `${method} /_matrix/client/v3/x HTTP/1.1\r\nHost: b\r\nConnection: close, Content-Length, Host`;
      await rawExchange(limits.url, `${head}\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`);
      expect(upstream.requests.map(({ target }) => target)).toEqual(['/_matrix/client/v3/x']);
      expect(upstream.last.body.toString()).toBe(HIDDEN);
      expect(upstream.last.rawHeaders).toContain('Host');
    },
  );

  test.each([`Content-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`, `Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`])(
    'is no upgrade with a body, for which the upstream would wait',
    async (framed) => {
      const head =
        'GET /_matrix/client/v3/x HTTP/1.1\r\nHost: b\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n';
      expect(await rawExchange(limits.url, head + framed)).toMatch(/^HTTP\/1\.1 200 /);
      expect(upstream.requests.map(({ target }) => target)).toEqual(['/_matrix/client/v3/x']);
      expect(upstream.last.rawHeaders.map((text) => text.toLowerCase())).not.toContain('upgrade');
    },
  );

  test.each([['h2c'], ['websocket'], ['echo']])('is no bounded operation behind Upgrade: %s', async (protocol) => {
    const upgrade = `Connection: close, Upgrade\r\nUpgrade: ${protocol}\r\n`;
    const received = await rawExchange(limits.url, HIDDEN.replace('Host: b\r\n', `Host: b\r\n${upgrade}`));
    expect(received).toMatch(/^HTTP\/1\.1 401 [\s\S]*M_MISSING_TOKEN/);
    expect(upstream.requests).toEqual([]);
  });

  test('is no other protocol: a request that asks for one is answered as it is', async () => {
    const request =
      'GET /_matrix/client/versions HTTP/1.1\r\nHost: b\r\nConnection: close, Upgrade\r\nUpgrade: h2c\r\n\r\n';
    expect(await rawExchange(limits.url, request)).toMatch(/^HTTP\/1\.1 200 /);
    expect(upstream.last.rawHeaders).not.toContain('Upgrade');
  });

  test.each([['gzip, chunked'], ['chunked, chunked'], ['identity, chunked']])(
    'is no body in the transfer encoding %s',
    async (encoding) => {
      const head = `PUT /_matrix/client/v3/x HTTP/1.1\r\nHost: b\r\nConnection: close\r\nTransfer-Encoding: ${encoding}`;
      expect(await rawExchange(limits.url, `${head}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 (?:400|501) /);
      expect(upstream.requests).toEqual([]);
    },
  );

  test('is nothing that comes after very many headers', async () => {
    const head = `GET /_matrix/client/versions HTTP/1.1\r\nHost: b\r\n${'a:1\r\n'.repeat(2500)}`;
    await rawExchange(limits.url, `${head}Connection: close\r\nX-Last: here\r\n\r\n`);
    expect(upstream.last.rawHeaders).toContain('X-Last');
  });

  // Such a body is JSON to us, and parameters of the query to some servers.
  test.each([['application/x-www-form-urlencoded'], [' Multipart/Form-Data; boundary=x']])(
    'is no parameter in a body that calls itself %s',
    async (type) => {
      const send = '/_matrix/client/v3/rooms/!r:b.example/send/m.x';
      const body = '{"a":"&org.matrix.msc4140.delay=999999999&"}';
      await call(limits.url, 'POST', send, { body, headers: { 'Content-Type': type } });
      const { rawHeaders } = upstream.last;
      expect(rawHeaders[rawHeaders.indexOf('Content-Type') + 1]).toBe('application/json');
      expect(upstream.last.body.toString()).toBe(body);
    },
  );

  test('is left alone where nothing is decided, and in uploads', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const target of ['/_matrix/client/v3/other', '/_matrix/media/v3/upload']) {
      await call(limits.url, 'POST', target, { body: 'a=b', headers });
      expect(upstream.last.rawHeaders).toContain('application/x-www-form-urlencoded');
    }
  });
});
