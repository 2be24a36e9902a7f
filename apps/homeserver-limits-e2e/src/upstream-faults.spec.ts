import type { Socket } from 'node:net';
import { ByteUpstream, json } from './testing/byte-upstream.js';
import { call, type Reply } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';

/** How long the gateway for faults that end with a timeout waits. To another one, a busy machine is not silent. */
const IMPATIENCE_MS = 3_000;
/** Far above the timeout, far below an endless wait. */
const NO_HANG_MS = 60_000;
const WHOAMI = '/_matrix/client/v3/account/whoami';
const RING = '/_matrix/client/v3/rooms/!r:b.example/send/m.rtc.notification/1';
const MEDIA_CONFIG = '/_matrix/client/v1/media/config';
const VERSIONS = '/_matrix/client/versions';
const PUSHERS = '/_matrix/client/v3/pushers';
const KEYS = '/_matrix/client/v3/keys/upload';
const PART = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{"user_id"';

/** Sends byte after byte, each well within the timeout, without end. */
function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{');
  const timer = setInterval(() => socket.write(' '), 100);
  socket.on('close', () => clearInterval(timer));
}

/** Faults in place of a response, with the status that the caller receives. */
const FAULTS: [what: string, fault: (socket: Socket) => void, status: number][] = [
  ['closes the connection', (socket) => socket.destroy(), 502],
  ['resets the connection', (socket) => socket.resetAndDestroy(), 502],
  ['does not respond', () => undefined, 504],
  ['sends invalid HTTP', (socket) => socket.write('what?\r\n\r\n'), 502],
  [
    'upgrades unrequested',
    (socket) => socket.write('HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    502,
  ],
  ['has no status', (socket) => socket.write('HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n'), 502],
];

/** Faults within a response, where the gateway needs all of it. */
const FAULTS_WITHIN: typeof FAULTS = [
  ['closes the connection in the middle', (socket) => socket.write(PART, () => socket.destroy()), 502],
  ['stops in the middle', (socket) => void socket.write(PART), 504],
  ['sends an endless body', drip, 504],
  ['sends a body that is too long', (socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(2_000_000)}`), 502],
];

describe('an upstream', () => {
  let upstream: ByteUpstream;
  let patient: LimitsProcess;
  let impatient: LimitsProcess;
  beforeAll(async () => {
    upstream = await ByteUpstream.listen();
    const toml = `[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\n`;
    patient = await LimitsProcess.start(toml);
    impatient = await LimitsProcess.start(`${toml}timeout_ms = ${IMPATIENCE_MS}\n`);
  });
  afterAll(async () => {
    await patient?.dispose();
    await impatient?.dispose();
    await upstream.close();
  });

  let users = 0;
  let token: string;
  let limits: LimitsProcess;
  beforeEach(() => {
    token = `user${++users}`;
    upstream.asked.length = 0;
  });

  /** The gateway for a fault with this status. */
  const facing = (status: number): LimitsProcess => (status === 504 ? impatient : patient);

  /** Responds correctly, except where the test takes over. */
  function answers(own: Record<string, (socket: Socket) => unknown>, gateway = patient): void {
    limits = gateway;
    upstream.respond = (socket, { target }) => {
      const [path] = Object.keys(own)
        .filter((prefix) => target.startsWith(prefix))
        .sort((a, b) => b.length - a.length);
      if (path !== undefined) own[path]!(socket);
      else if (target.startsWith(WHOAMI)) socket.write(json(200, { user_id: `@${token}:b.example`, device_id: 'D' }));
      else socket.write(json(200, {}));
    };
  }

  async function ask(method: string, target: string, body?: object): Promise<Reply> {
    const began = Date.now();
    const reply = await call(limits.url, method, target, { token, ...(body && { body }) });
    expect(Date.now() - began).toBeLessThan(NO_HANG_MS);
    return reply;
  }

  function expectFailure({ status, body, headers }: Reply, expected: number): void {
    expect([status, body?.errcode]).toEqual([expected, 'M_UNKNOWN']);
    expect(headers['access-control-allow-origin']).toBe('*');
  }

  describe('behind a forwarded request that', () => {
    test.each(FAULTS)('%s', async (_what, fault, status) => {
      answers({ [VERSIONS]: fault }, facing(status));
      expectFailure(await ask('GET', VERSIONS), status);
    });

    test.each(FAULTS_WITHIN.slice(0, 2))(
      '%s closes the connection of the caller, so that the response is not taken for complete',
      async (_what, fault, status) => {
        answers({ [VERSIONS]: fault }, facing(status));
        await expect(ask('GET', VERSIONS)).rejects.toThrow(/aborted|hang up|ECONNRESET/);
      },
    );

    test.each([['103 Early Hints'], ['100 Continue'], ['102 Processing']])(
      'sends %s first does not disturb the response',
      async (first) => {
        answers({ [VERSIONS]: (socket) => socket.write(`HTTP/1.1 ${first}\r\n\r\n${json(200, { versions: [] })}`) });
        expect((await ask('GET', VERSIONS)).body).toEqual({ versions: [] });
      },
    );
  });

  describe('whose response has to be buffered and that', () => {
    test.each([...FAULTS, ...FAULTS_WITHIN])('%s', async (_what, fault, status) => {
      answers({ [MEDIA_CONFIG]: fault }, facing(status));
      expectFailure(await ask('GET', MEDIA_CONFIG), status);
    });
  });

  describe('that is asked for the owner of a token lets no ring through when it', () => {
    test.each([
      ...FAULTS,
      ...FAULTS_WITHIN,
      ['fails', (socket: Socket) => socket.write(json(500, {})), 502] as const,
      [
        'fails with a 200',
        (socket: Socket) => socket.write(json(200, { errcode: 'M_UNKNOWN', error: 'x' })),
        502,
      ] as const,
    ])('%s', async (_what, fault, status) => {
      answers({ [WHOAMI]: fault }, facing(status));
      expectFailure(await ask('PUT', RING, {}), status);
      expect(upstream.times(RING)).toBe(0);
    });

    test('rate-limits, with the time to wait', async () => {
      const refusal = { errcode: 'M_LIMIT_EXCEEDED', error: 'slow down', retry_after_ms: 1500 };
      answers({ [WHOAMI]: (socket) => socket.write(json(429, refusal, 'Retry-After: 2\r\n')) });
      const reply = await ask('PUT', RING, {});
      expect([reply.status, reply.body, reply.headers['retry-after']]).toEqual([429, refusal, '2']);
      expect(upstream.times(RING)).toBe(0);
    });
  });

  describe('that is asked for a count lets no write through when it', () => {
    const inconclusive = [
      ...FAULTS,
      ...FAULTS_WITHIN.slice(0, 2),
      ['fails', (socket: Socket) => socket.write(json(500, { errcode: 'M_UNKNOWN', error: 'x' })), 502] as const,
      [
        'responds with something else',
        (socket: Socket) => socket.write(json(200, { errcode: 'M_UNKNOWN', error: 'x' })),
        502,
      ] as const,
    ];
    const pusher = { app_id: 'app', pushkey: 'k', kind: 'http' };

    test.each(inconclusive)('%s (pushers)', async (_what, fault, status) => {
      answers({ [PUSHERS]: fault, [`${PUSHERS}/set`]: (socket) => socket.write(json(200, {})) }, facing(status));
      expectFailure(await ask('POST', `${PUSHERS}/set`, pusher), status);
      expect(upstream.times(`${PUSHERS}/set`)).toBe(0);
    });

    test.each(inconclusive)('%s (one-time keys)', async (_what, fault, status) => {
      answers({ [KEYS]: fault }, facing(status));
      expectFailure(await ask('POST', KEYS, { one_time_keys: { 'a:1': 'x' } }), status);
      expect(upstream.asked.filter(({ body }) => body.includes('a:1'))).toEqual([]);
    });

    test.each(inconclusive)('%s (delayed events)', async (_what, fault, status) => {
      answers({ '/_matrix/client/unstable/org.matrix.msc4140/delayed_events': fault }, facing(status));
      const target = '/_matrix/client/v3/rooms/!r:b.example/send/m.x/1?org.matrix.msc4140.delay=1000';
      expectFailure(await ask('PUT', target, {}), status);
      expect(upstream.times('/_matrix/client/v3/rooms')).toBe(0);
    });

    test('refuses, in its own words', async () => {
      const refusal = { errcode: 'M_USER_LOCKED', error: 'locked', soft_logout: true };
      answers({ [PUSHERS]: (socket) => socket.write(json(401, refusal)) });
      const reply = await ask('POST', `${PUSHERS}/set`, pusher);
      expect([reply.status, reply.body]).toEqual([401, refusal]);
    });

    test('does not list delayed events: those scheduled through the gateway count', async () => {
      const missing = (socket: Socket) => socket.write(json(404, { errcode: 'M_UNRECOGNIZED', error: 'x' }));
      answers({
        '/_matrix/client/unstable/org.matrix.msc4140/delayed_events': missing,
        '/_matrix/client/v1/delayed_events': missing,
        '/_matrix/client/v3/rooms': (socket) => socket.write(json(200, { delay_id: `d${upstream.asked.length}` })),
      });
      const later = (txn: number) =>
        ask('PUT', `/_matrix/client/v3/rooms/!r:b.example/send/m.x/${txn}?org.matrix.msc4140.delay=60000`, {});
      for (let i = 0; i < 100; i++) expect((await later(i)).status).toBe(200);
      expect((await later(100)).body.errcode).toBe('M_LIMIT_EXCEEDED');
    });

    test('gets one request for parallel writes of one user', async () => {
      const waiting: Socket[] = [];
      answers({
        [PUSHERS]: (socket) => waiting.push(socket),
        [`${PUSHERS}/set`]: (socket) => socket.write(json(200, {})),
      });
      const writes = Array.from({ length: 20 }, (_, i) =>
        ask('POST', `${PUSHERS}/set`, { ...pusher, pushkey: `k${i}` }),
      );
      const listed = () => {
        for (const socket of waiting.splice(0)) socket.write(json(200, { pushers: [] }));
      };
      // Once later requests were answered, all writes have reached the gateway, and wait for the first list.
      for (let i = 0; i < 3; i++) expect((await ask('GET', VERSIONS)).status).toBe(200);
      const release = setInterval(listed, 50);
      expect((await Promise.all(writes)).every(({ status }) => status === 200)).toBe(true);
      clearInterval(release);
      expect(upstream.asked.filter(({ method, target }) => method === 'GET' && target === PUSHERS).length).toBeLessThan(
        5,
      );
    });
  });

  describe('that does not list the account data', () => {
    const SYNC = '/_matrix/client/v3/sync';
    const put = (type: string) => ask('PUT', `/_matrix/client/v3/user/@${token}:b.example/account_data/${type}`, {});
    const account = (socket: Socket) => socket.write(json(404, { errcode: 'M_NOT_FOUND', error: 'none' }));

    test.each([...FAULTS, ...FAULTS_WITHIN])(
      'because it %s: only observed types count, with a log line',
      async (_what, fault) => {
        let first = true;
        const ofUser = (socket: Socket) => {
          if (!first) return socket.write(json(200, {}));
          first = false;
          return account(socket);
        };
        answers({ [SYNC]: fault, '/_matrix/client/v3/user': ofUser }, impatient);
        expect((await put('a')).status).toBe(200);
        const user = `@${token}:b.example`;
        const line = await limits.logged((entry) => JSON.stringify(entry).includes(user));
        expect(line.msg).toContain('earlier account data could not be loaded');
        expect((await put('b')).status).toBe(200);
        expect(upstream.times(SYNC)).toBeLessThanOrEqual(2);
      },
    );

    test('of one type: lets nothing through', async () => {
      answers({ '/_matrix/client/v3/user': (socket) => socket.write(json(500, {})) });
      expectFailure(await put('a'), 502);
      expect(upstream.asked.filter(({ method }) => method === 'PUT')).toEqual([]);
    });

    test('but has a type, with content of any length: treats it as held', async () => {
      const { length } = 'x'.repeat(20_000_000);
      answers({
        '/_matrix/client/v3/user': (socket) =>
          socket.write(
            upstream.asked.at(-1)?.method === 'PUT'
              ? json(200, {})
              : `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`,
          ),
      });
      expect((await put('long')).status).toBe(200);
      expect(upstream.times(SYNC)).toBe(0);
    });
  });
});
