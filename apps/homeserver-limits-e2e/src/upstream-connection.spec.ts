import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { ByteUpstream, json } from './testing/byte-upstream.js';
import { canCreateCertificates, Certificate } from './testing/certificate.js';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { UnreachablePort } from './testing/unreachable-port.js';
import { rawExchange } from './testing/raw-exchange.js';

const TIMEOUT_MS = 10_000;
const WHOAMI = '/_matrix/client/v3/account/whoami';
const VERSIONS = '/_matrix/client/versions';
const UPGRADE = 'GET /ws HTTP/1.1\r\nHost: b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

const toml = (url: string, extra = '') =>
  `[server]\nname = "b.example"\n[gateway]\nupstream = "${url}"\ntimeout_ms = ${TIMEOUT_MS}\n${extra}`;

describe('the connections to an upstream', () => {
  let upstream: ByteUpstream;
  let limits: LimitsProcess;
  beforeAll(async () => {
    upstream = await ByteUpstream.listen();
    limits = await LimitsProcess.start(toml(upstream.url));
  });
  afterAll(async () => {
    await limits.dispose();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.asked.length = 0;
  });

  const ask = (method: string, target: string, body?: object) =>
    call(limits.url, method, target, { token: 't', ...(body && { body }) });

  describe('that it closes just as they are reused', () => {
    /**
     * The first request finds its connection closed, as after an idle timeout. It takes an idle connection, possibly
     * one that was opened ahead and has served no request.
     */
    beforeEach(async () => {
      upstream.respond = (socket) => socket.write(json(200, {}));
      await Promise.all(Array.from({ length: 4 }, () => ask('GET', VERSIONS)));
      upstream.asked.length = 0;
      upstream.respond = (socket) => (upstream.asked.length === 1 ? socket.destroy() : socket.write(json(200, {})));
    });

    test('retry an idempotent request once', async () => {
      expect((await ask('GET', VERSIONS)).status).toBe(200);
      expect(upstream.times(VERSIONS)).toBe(2);
    });

    test('do not retry a request that is not idempotent', async () => {
      const reply = await ask('POST', '/_matrix/client/v3/createRoom', {});
      expect([reply.status, reply.body.errcode]).toEqual([502, 'M_UNKNOWN']);
      expect(upstream.times('/_matrix/client/v3/createRoom')).toBe(1);
    });
  });

  test('wait for a slow response up to the timeout, although they are closed earlier when idle', async () => {
    upstream.respond = (socket) => void setTimeout(() => socket.write(json(200, { slow: true })), 4_600);
    expect((await ask('GET', VERSIONS)).body).toEqual({ slow: true });
  });

  test('do not delay a write until an initial sync ends', async () => {
    const syncing: Socket[] = [];
    upstream.respond = (socket, { target, method }) => {
      if (target.startsWith('/_matrix/client/v3/sync')) syncing.push(socket);
      else if (target.startsWith(WHOAMI)) socket.write(json(200, { user_id: '@many:b.example' }));
      else socket.write(method === 'GET' ? json(404, { errcode: 'M_NOT_FOUND', error: 'none' }) : json(200, {}));
    };
    const put = (type: string) => ask('PUT', `/_matrix/client/v3/user/@many:b.example/account_data/${type}`, {});
    expect((await put('a')).status).toBe(200);
    // The gateway has not given up the sync, which would also have let the write through.
    expect(syncing.map(({ destroyed }) => destroyed)).toEqual([false]);
    expect((await put('b')).status).toBe(200);
    expect(syncing).toHaveLength(1);
    syncing[0]?.write(json(200, {}));
  });

  describe('to be upgraded', () => {
    test.each([
      ['is closed', (socket: Socket) => socket.destroy(), /^HTTP\/1\.1 502 [\s\S]*"errcode":"M_UNKNOWN"/],
      [
        'sends invalid HTTP',
        (socket: Socket) => socket.write('what?\r\n\r\n'),
        /^HTTP\/1\.1 502 [\s\S]*"errcode":"M_UNKNOWN"/,
      ],
      ['does not respond', () => undefined, /^HTTP\/1\.1 504 [\s\S]*"errcode":"M_UNKNOWN"/],
      [
        'refuses',
        (socket: Socket) => socket.write(json(403, { errcode: 'M_FORBIDDEN' })),
        /^HTTP\/1\.1 403 [\s\S]*M_FORBIDDEN"\}$/,
      ],
    ])('end with a response when the upstream %s', async (_what, fault, expected) => {
      upstream.respond = fault;
      expect(await rawExchange(limits.url, UPGRADE)).toMatch(expected);
    });

    test('end without a second response when the refusal of the upstream is interrupted', async () => {
      upstream.respond = (socket) =>
        socket.write('HTTP/1.1 403 X\r\nContent-Length: 100\r\n\r\n{"errcode"', () => socket.resetAndDestroy());
      const received = await rawExchange(limits.url, UPGRADE);
      expect(received).toMatch(/^HTTP\/1\.1 403 X/);
      expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    });
  });
});

test('an upstream that accepts no connection gives 504, not an endless wait', async () => {
  await using gone = await UnreachablePort.open();
  const limits = await LimitsProcess.start(toml(`http://127.0.0.1:${gone.port}`).replace(String(TIMEOUT_MS), '1500'));
  const replies = await Promise.all([
    call(limits.url, 'GET', VERSIONS),
    call(limits.url, 'GET', '/_matrix/client/v1/media/config'),
    call(limits.url, 'POST', '/_matrix/media/v3/upload', { body: Buffer.alloc(1_000_000) }),
  ]);
  expect(replies.map(({ status, body }) => [status, body.errcode])).toEqual(Array(3).fill([504, 'M_UNKNOWN']));
  await limits.dispose();
});

(canCreateCertificates ? describe : describe.skip)('an upstream behind https', () => {
  let certificate: Certificate;
  let upstream: Server;
  let url: string;
  beforeAll(async () => {
    certificate = await Certificate.create();
    upstream = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) =>
      response.end(JSON.stringify({ target: request.url })),
    );
    upstream.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
      socket.end('hello');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    await certificate.dispose();
  });

  test.each([['127.0.0.1'], ['localhost']])(
    'is reached as %s with its certificate authority, including upgrades',
    async (host) => {
      const limits = await LimitsProcess.start(
        toml(url.replace('127.0.0.1', host), `ca_file = "${certificate.certPath}"\n`),
      );
      expect((await call(limits.url, 'GET', VERSIONS)).body).toEqual({ target: VERSIONS });
      expect(await rawExchange(limits.url, UPGRADE)).toMatch(/^HTTP\/1\.1 101 [\s\S]*hello$/);
      await limits.dispose();
    },
  );

  test('is not used without a trusted certificate authority', async () => {
    const limits = await LimitsProcess.start(toml(url));
    const reply = await call(limits.url, 'GET', VERSIONS);
    expect([reply.status, reply.body.errcode]).toEqual([502, 'M_UNKNOWN']);
    expect(JSON.stringify(await limits.logged(({ msg }) => msg === 'the upstream failed'))).toContain('self-signed');
    await limits.dispose();
  });

  test('stops the start when the file of its certificate authority is missing', async () => {
    const limits = await LimitsProcess.prepare(toml(url, 'ca_file = "/nowhere/ca.pem"\n'));
    await expect(limits.launch()).rejects.toThrow('/nowhere/ca.pem: cannot be read');
    await limits.dispose();
  });
});
