import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const HELD = '/_matrix/client/v3/held';
const LOGIN = '/_matrix/client/v3/login';
const POLL = '/_matrix/client/v3/sync?since=s1&timeout=30000';
/** How long the gateway waits for a silent upstream in the test of that. In the others, it gives back no place. */
const SILENCE_MS = 10_000;
const NEVER_MS = 600_000;

describe('a bound on the requests of a source that are in progress', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  /** The responses that the upstream has not written, in the order of their requests. */
  let held: ServerResponse[];
  let arrival: () => void;

  const start = (more = 'concurrent_requests_per_source = 1\n', rest = '', silenceMs = NEVER_MS) =>
    LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n${more}` +
        `[gateway]\nupstream = "${upstream.url}"\ntimeout_ms = ${silenceMs}\n[operator]\nlisten = "127.0.0.1:0"\n${rest}`,
    );

  beforeEach(async () => {
    upstream = await RecordingUpstream.listen();
    held = [];
    arrival = () => undefined;
    upstream.respond = ({ url = '' }, response) => {
      if (![HELD, LOGIN, POLL].some((path) => url.startsWith(path))) return void response.end('{}');
      held.push(response);
      arrival();
    };
  });
  afterEach(async () => {
    await limits.dispose();
    await upstream.close();
  });

  /** Sends a request over a connection of its own, and waits until the upstream has it. */
  async function hold(target = HELD, method = 'GET', body = ''): Promise<Socket> {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrival = resolve;
    const socket = connect(Number(new URL(limits.url).port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write(`${method} ${target} HTTP/1.1\r\nHost: b\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await promise;
    return socket;
  }
  const ask = (from = '127.0.0.1', target = '/_matrix/client/versions') => call(limits.url, 'GET', target, { from });
  /** Resolves when a place is free, by the status of another request. */
  async function untilFree(): Promise<void> {
    const end = Date.now() + 60_000;
    while ((await ask()).status === 429) if (Date.now() > end) throw new Error('the place was never given back');
  }
  const ways: readonly (readonly [string, () => Promise<void>, silenceMs?: number])[] = [
    ['its response', async () => void (await hold().then(() => held[0]!.end('{}')))],
    ['a caller who hangs up', async () => void (await hold()).destroy()],
    [
      'a caller who hangs up in the middle of a body',
      async () => {
        const socket = connect(Number(new URL(limits.url).port), '127.0.0.1');
        socket.write(`POST ${LOGIN} HTTP/1.1\r\nHost: b\r\nContent-Length: 1000\r\n\r\n{`);
        while ((await ask()).status !== 429) await new Promise((resume) => setImmediate(resume));
        socket.destroy();
      },
    ],
    ['an upstream that closes its connection', async () => void (await hold().then(() => held[0]!.destroy()))],
    [
      'an upstream that fails in the middle of its response',
      async () => {
        await hold();
        held[0]!.writeHead(200, { 'Content-Length': '1000' }).write('half');
        held[0]!.destroy();
      },
    ],
    [
      'a caller who hangs up in the middle of the response',
      async () => {
        const socket = await hold();
        held[0]!.writeHead(200, { 'Content-Length': '1000' }).write('half');
        await once(socket, 'data');
        socket.destroy();
      },
    ],
    ['an upstream that is silent for too long', async () => void (await once(await hold(), 'data')), SILENCE_MS],
    [
      'a refusal',
      async () => void expect((await call(limits.url, 'POST', LOGIN, { body: 'no JSON' })).status).toBe(400),
    ],
    [
      'a body that is too large',
      async () =>
        void expect((await call(limits.url, 'POST', LOGIN, { body: Buffer.alloc(100_000) })).status).toBe(413),
    ],
    [
      'a path that servers read differently',
      async () => void expect((await ask('127.0.0.1', '/a/../b')).status).toBe(404),
    ],
  ];

  const rows = ways.map(([way, end, silenceMs = NEVER_MS]) => [way, end, silenceMs] as const);
  test.each(rows)('gives the place back after %s', async (_way, end, silenceMs) => {
    limits = await start(undefined, undefined, silenceMs);
    await end();
    await untilFree();
    // Exactly one place.
    const socket = await hold();
    expect((await ask()).status).toBe(429);
    socket.destroy();
    await untilFree();
  });

  test('refuses with 429 while the place is taken, and others are not concerned', async () => {
    limits = await start();
    const socket = await hold();
    const before = upstream.requests.length;
    const refused = await ask();
    expect([refused.status, refused.body.errcode, refused.body.retry_after_ms]).toEqual([
      429,
      'M_LIMIT_EXCEEDED',
      1000,
    ]);
    expect(refused.headers['retry-after']).toBe('1');
    expect(upstream.requests).toHaveLength(before);
    expect((await ask('192.0.2.7')).status).toBe(200);
    const metrics = (await call(limits.operatorUrl, 'GET', '/metrics')).bytes.toString();
    expect(metrics).toContain('limits_decisions_total{rule="concurrent_requests",outcome="refused"} 1\n');
    const { refusals } = (await call(limits.operatorUrl, 'GET', '/refusals?rule=concurrent_requests')).body;
    expect(refusals[0]).toMatchObject({ key: '127.0.0.1', limit: 1, reason: 'concurrent', address: '127.0.0.1' });
    socket.destroy();
  });

  test('a caller who hangs up early does not free the place of a request that the upstream works on', async () => {
    limits = await start();
    const guess = JSON.stringify({ type: 'm.login.password', user: 'nora', password: 'no' });
    const socket = await hold(LOGIN, 'POST', guess);
    socket.destroy();
    await once(socket, 'close');
    for (let i = 0; i < 20; i++) expect((await ask()).status).toBe(429);
    held[0]!.writeHead(403).end('{}');
    await untilFree();
  });

  test('one connection never waits for its own last request', async () => {
    limits = await start();
    for (let i = 0; i < 300; i++) expect((await ask()).status).toBe(200);
  });

  test('long polls have a bound of their own', async () => {
    limits = await start('concurrent_requests_per_source = 1\nconcurrent_polls_per_source = 2\n');
    const polls = [await hold(POLL), await hold(POLL)];
    expect((await ask('127.0.0.1', POLL)).status).toBe(429);
    expect((await ask()).status).toBe(200);
    for (const response of held) response.end('{}');
    for (const socket of polls) socket.destroy();
  });

  test('in shadow, with an exempt network or without the setting, nothing is refused', async () => {
    const shadow = '[ratelimit]\nshadow = ["concurrent_requests"]\n';
    const one = 'concurrent_requests_per_source = 1\n';
    for (const [more, rest] of [
      [one, shadow],
      [one, '[exemptions]\nnetworks = ["127.0.0.0/8"]\n'],
      ['', ''],
    ]) {
      limits = await start(more, rest);
      const sockets = [await hold(), await hold(), await hold()];
      expect((await ask()).status).toBe(200);
      const metrics = (await call(limits.operatorUrl, 'GET', '/metrics')).bytes.toString();
      if (rest === shadow)
        expect(metrics).toContain('limits_decisions_total{rule="concurrent_requests",outcome="shadow_refused"} 3\n');
      else expect(metrics).not.toMatch(/concurrent_requests",outcome="(?:shadow_)?refused"\} [1-9]/);
      for (const socket of sockets) socket.destroy();
      await limits.dispose();
    }
  });
});
