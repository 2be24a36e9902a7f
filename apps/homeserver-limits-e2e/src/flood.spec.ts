import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Flood } from './testing/flood.js';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MemoryGroup } from './testing/memory-group.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

/** How long each kind of body is sent. 90,000 takes 10 minutes, to see whether memory grows over time. */
const FLOOD_MS = Number(process.env['HEADGATE_TEST_FLOOD_MS'] ?? 3_000);
const CONNECTIONS = 100;
/** Half of the limit of the deployment's manifest. */
const LIMIT_MIB = 256;
/** How long a login may take during a flood that shares two processors with the gateway and the homeserver. */
const MAX_LOGIN_MS = 30_000;
const BODY_BYTES = 13_000_000;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const LOGIN = '/_matrix/client/v3/login';

/** Requests that are passed on, without the body that they announce. */
const SLOW = [
  'POST /_matrix/client/v3/unknown HTTP/1.1\r\nHost: b\r\nContent-Length: 100000\r\n\r\nbegin',
  'POST /_matrix/client/v3/unknown HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n',
];
/** The default. */
const MAX_PER_SOURCE = 1_024;
/** Fewer than the kernel queues for a server: it may forget silent connections beyond that without closing them. */
const BATCH = 256;
const SLOW_CONNECTIONS = 1_000;
/** Connections of the logins. */
const MAX_UPSTREAM_CONNECTIONS = 20;

/** Bodies that are read, too large, not to be read, and passed on. */
const FLOODS = [
  ['of a transaction, as large as one may be', 'PUT /_matrix/federation/v1/send/1', '', BODY_BYTES],
  ['of a transaction in chunks, larger than one may be', 'PUT /_matrix/federation/v1/send/1', CHUNKED, 2 * BODY_BYTES],
  ['of a login', `POST ${LOGIN}`, '', BODY_BYTES],
  ['of a login in chunks', `POST ${LOGIN}`, CHUNKED, BODY_BYTES],
  ['of a small login', `POST ${LOGIN}`, '', 1_000],
  ['of a request that is relayed', 'POST /_matrix/client/v3/unknown', '', BODY_BYTES],
  ['of a request in chunks that is passed on', 'POST /_matrix/client/v3/unknown', CHUNKED, BODY_BYTES],
] as const;

describe('floods of large bodies without an account', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  let group: MemoryGroup | undefined;
  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    // It keeps no bodies, and answers when it has received them.
    upstream.early = (request, response) => void request.resume().once('end', () => response.end('{}'));
    group = MemoryGroup.create(LIMIT_MIB);
    const toml = `[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\n`;
    limits = await LimitsProcess.start(toml, group?.command);
  });
  afterAll(async () => {
    await limits.dispose();
    await upstream.close();
    group?.remove();
  });

  /** In MiB. */
  async function memory(field: 'VmRSS' | 'VmHWM'): Promise<number> {
    const status = await readFile(`/proc/${limits.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  }

  async function login(): Promise<number> {
    const began = performance.now();
    const body = { type: 'm.login.password', identifier: { type: 'm.id.user', user: 'nora' }, password: 'x' };
    expect((await call(limits.url, 'POST', LOGIN, { body })).status).toBe(200);
    return performance.now() - began;
  }

  test.each(FLOODS)(
    'leave memory within its limit, and other callers served: bodies %s',
    async (_what, line, headers, bytes) => {
      const flood = new Flood({ url: limits.url, connections: CONNECTIONS, localAddress: '127.0.0.2' });
      const flooding = flood.run(`${line} HTTP/1.1\r\nHost: b.example\r\n${headers}`, bytes);
      const logins: number[] = [];
      const rss: number[] = [];
      try {
        for (const end = performance.now() + FLOOD_MS; performance.now() < end || flood.sent < CONNECTIONS;) {
          logins.push(await login());
          rss.push(await memory('VmRSS'));
          await setTimeout(50);
        }
      } finally {
        flood.end();
        await flooding;
      }
      const peak = await memory('VmHWM');
      if (process.env['HEADGATE_TEST_FLOOD_MS'] !== undefined) report(flood.sent, logins, rss, peak);
      expect(limits.isRunning).toBe(true);
      expect(Math.max(...logins)).toBeLessThan(MAX_LOGIN_MS);
      expect(peak).toBeLessThan(LIMIT_MIB);
    },
    FLOOD_MS + 120_000,
  );

  test('take no more connections than one source may have', async () => {
    const { hostname, port } = new URL(limits.url);
    const sockets: Socket[] = [];
    const isOpen = (socket: Socket) => !socket.closed;
    const open = () => sockets.filter(isOpen).length;
    try {
      while (sockets.length < 2 * MAX_PER_SOURCE) {
        const batch = Array.from({ length: BATCH }, () =>
          connect({ host: hostname, port: Number(port), localAddress: '127.0.0.4' }).on('error', () => undefined),
        );
        sockets.push(...batch);
        await Promise.all(batch.map((socket) => once(socket.resume(), 'connect')));
        // The gateway has accepted the earlier connections.
        await login();
      }
      while (open() > MAX_PER_SOURCE) {
        await new Promise<void>((resolve) => {
          for (const socket of sockets.filter(isOpen)) socket.once('close', () => resolve());
        });
      }
      await login();
      expect(open()).toBe(MAX_PER_SOURCE);
      const metrics = (await call(limits.url, 'GET', '/metrics')).bytes.toString();
      expect(metrics).toContain(`limits_refused_connections_total ${sockets.length - MAX_PER_SOURCE}\n`);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  test('take no connections of the homeserver without bodies', async () => {
    const { hostname, port } = new URL(limits.url);
    // The pool keeps those of requests that were relayed before.
    const kept = await upstream.connections;
    const sockets = Array.from({ length: SLOW_CONNECTIONS }, (_, index) => {
      const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.3' });
      socket.on('error', () => undefined).write(SLOW[index % SLOW.length]!);
      return socket;
    });
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      // The gateway has read the bytes that arrived before.
      for (let i = 0; i < 10; i++) await login();
      expect(sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(SLOW_CONNECTIONS);
      expect(await upstream.connections).toBeLessThan(kept + MAX_UPSTREAM_CONNECTIONS);
      expect(await memory('VmHWM')).toBeLessThan(LIMIT_MIB);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

/** The figures of a long run, for docs/measurements.md. */
function report(sent: number, logins: readonly number[], rss: readonly number[], peak: number): void {
  const text = (values: readonly number[]) => Math.round(Math.max(...values));
  process.stdout.write(
    `${sent} bodies, ${logins.length} logins of at most ${text(logins)} ms; RSS at most ${text(rss)} MiB, peak ${Math.round(peak)} MiB\n`,
  );
}
