import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Mode } from './testing/modes.js';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const MIB = 1024 * 1024;
const BUDGET_MIB = 16;
const SEND = '/_matrix/federation/v1/send/';

describe.each<Mode>(['embedded', 'gateway'])('the memory of request bodies (%s)', (mode) => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    const gateway = mode === 'gateway' ? `[gateway]\nupstream = "${upstream.url}"\n` : '';
    limits = await LimitsProcess.start(`[server]\nname = "b.example"\nbody_memory_mib = ${BUDGET_MIB}\n${gateway}`);
    // The first requests load code and grow the heap.
    for (let i = 0; i < 20; i++) await call(limits.url, 'PUT', `${SEND}warm${i}`, { body: { pdus: [] } });
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });
  afterAll(async () => {
    await limits.dispose();
    await upstream.close();
  });

  async function residentMib(): Promise<number> {
    const status = await readFile(`/proc/${limits.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  async function metric(name: string): Promise<number> {
    const text = (await call(limits.url, 'GET', '/metrics')).bytes.toString('utf8');
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }

  async function open(head: string): Promise<Socket> {
    const { hostname, port } = new URL(limits.url);
    const socket = connect(Number(port), hostname);
    sockets.add(socket.on('error', () => undefined));
    await once(socket, 'connect');
    socket.write(`${head}\r\nHost: b.example\r\n`);
    return socket;
  }

  async function write(socket: Socket, bytes: Buffer | string): Promise<void> {
    if (socket.write(bytes) || socket.destroyed) return;
    // `once` would reject when the gateway resets the connection, as it may.
    await new Promise<void>((resolve) => socket.once('drain', resolve).once('close', () => resolve()));
  }

  async function until(met: () => Promise<boolean>, what: string): Promise<void> {
    const end = Date.now() + 120_000;
    while (!(await met())) {
      if (Date.now() > end) throw new Error(`timed out: ${what}`);
      await setImmediate();
    }
  }

  test('is that of its bytes, even in chunks of one byte', async () => {
    const before = await residentMib();
    const socket = await open(`PUT ${SEND}chunks HTTP/1.1`);
    await write(socket, 'Transfer-Encoding: chunked\r\n\r\n');
    const chunks = '1\r\n \r\n'.repeat(16_384);
    for (let sent = 0; sent < MIB; sent += 16_384) await write(socket, chunks);
    await until(async () => (await metric('limits_buffered_body_bytes')) >= MIB - 65_536, 'all chunks arrived');
    expect(await metric('limits_buffered_body_bytes')).toBeLessThan(1.2 * MIB);
    expect((await residentMib()) - before).toBeLessThan(100);
  });

  test('has one budget, from which slow senders are refused first, and others are served', async () => {
    const part = Buffer.alloc(2 * MIB, ' ');
    let refused = 0;
    const startedAt = performance.now();
    for (let i = 0; i < 20; i++) {
      const socket = await open(`PUT ${SEND}slow${i} HTTP/1.1`);
      socket.on('data', (data: Buffer) => (refused += Number(data.toString('latin1').startsWith('HTTP/1.1 503'))));
      await write(socket, `Content-Length: ${12 * MIB}\r\n\r\n`);
      await write(socket, part);
    }
    await until(async () => refused >= 12, 'slow senders were refused');
    expect(await metric('limits_buffered_body_bytes')).toBeLessThanOrEqual(BUDGET_MIB * MIB);
    expect(await metric('limits_refused_bodies')).toBeGreaterThanOrEqual(12);
    // A body is refused by its bytes and its age. This one is a quarter of the slow ones, and takes less time than they
    // have taken, also on a busy machine.
    await until(async () => performance.now() - startedAt > 2_000, 'the slow senders have taken their time');
    const body = JSON.stringify({ origin: 'a.example', pdus: [], x: 'x'.repeat(MIB / 2) });
    expect((await call(limits.url, 'PUT', `${SEND}fast`, { body })).status).toBe(mode === 'gateway' ? 200 : 401);
  });

  if (mode === 'gateway') {
    test('is free again when a request for a tunnel follows, on which Node closes the connection', async () => {
      upstream.respond = () => undefined;
      const body = JSON.stringify({ pdus: [], x: 'x'.repeat(MIB) });
      const socket = await open('GET /_matrix/client/v3/sync?timeout=60000 HTTP/1.1');
      // The relay does not take a request with this header. It would not start the second request before the first has
      // ended.
      await write(
        socket,
        `TE: trailers\r\n\r\nPUT ${SEND}second HTTP/1.1\r\nHost: b.example\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await until(async () => upstream.countOf(`${SEND}second`) === 1, 'both requests arrived');
      await write(socket, 'CONNECT b.example:80 HTTP/1.1\r\nHost: b.example\r\n\r\n');
      await until(async () => (await metric('limits_buffered_body_bytes')) === 0, 'the body was released');
      upstream.respond = (_request, response) => response.end('{}');
    });
  }

  test('is free again when the callers have gone', async () => {
    await until(async () => (await metric('limits_buffered_body_bytes')) === 0, 'all bodies were released');
    expect((await call(limits.url, 'PUT', `${SEND}later`, { body: { pdus: [] } })).status).toBe(
      mode === 'gateway' ? 200 : 401,
    );
  });
});
