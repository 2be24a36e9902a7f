import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { guess, type GuessResult } from './testing/guesses.js';
import { call } from './testing/http-client.js';
import { Lane } from './testing/lane.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freshAddress } from './testing/matrix-user.js';
import { RecordingUpstream } from './testing/recording-upstream.js';
import { redisProgram, RedisServer } from './testing/redis-server.js';

const LOGIN = '/_matrix/client/v3/login';
const REPLACED = 'a worker was replaced';
const CLIENT = '/_matrix/client/v3';
const PUSHERS = `${CLIENT}/pushers`;
/** How often the guesses are repeated; `npm run test:workers` sets it. */
const ROUNDS = Array.from({ length: Number(process.env.HEADGATE_TEST_WORKER_ROUNDS ?? 1) }, (_, round) => round + 1);
const TOKEN = { Authorization: 'Bearer token' };
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
const OPERATOR = '[operator]\nlisten = "127.0.0.1:0"\n';

describe('a gateway with workers', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  /** The logins that the upstream has not answered. */
  let held: ServerResponse[];
  let isHolding: boolean;
  let onLogin: () => void;
  let lanes: Lane[];
  let sockets: Socket[];
  let pushers: object[];

  const start = async (workers: number, more = OPERATOR, ofServer = '') => {
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\nworkers = ${workers}\n${ofServer}` +
        `[gateway]\nupstream = "${upstream.url}"\n${more}`,
    );
  };
  const forbid = (response: ServerResponse) => {
    response.writeHead(403, { 'Content-Type': 'application/json' });
    response.end('{"errcode":"M_FORBIDDEN","error":"wrong"}');
  };

  beforeEach(async () => {
    upstream = await RecordingUpstream.listen();
    [held, isHolding, onLogin] = [[], false, () => undefined];
    [lanes, sockets, pushers] = [[], [], []];
    upstream.respond = ({ url = '' }, response) => {
      if (url.endsWith('/whoami')) return void response.end('{"user_id":"@nora:b.example","device_id":"D"}');
      if (url === PUSHERS) return void response.end(JSON.stringify({ pushers }));
      if (url === `${PUSHERS}/set`) pushers.push(JSON.parse(upstream.last.body.toString('utf8')) as object);
      if (!url.startsWith(LOGIN)) return void response.end('{}');
      if (isHolding) held.push(response);
      else forbid(response);
      onLogin();
    };
  });
  afterEach(async () => {
    for (const lane of lanes) lane.close();
    for (const socket of sockets) socket.destroy();
    await limits?.dispose();
    await upstream.close();
  });

  /** Resolves when this many logins have reached the upstream. */
  function loginsAtUpstream(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    onLogin = () => {
      if (upstream.countOf(LOGIN) >= count) resolve();
    };
    onLogin();
    return promise;
  }

  /** Kills a worker, and resolves when another one is in its place. */
  async function killWorker(pid: number): Promise<void> {
    const before = limits.log.length;
    process.kill(pid, 'SIGKILL');
    await limits.logged(({ msg }) => msg === REPLACED, before);
  }

  const wrongLogin = (lane: Lane, user: string) =>
    lane.call('POST', LOGIN, { type: 'm.login.password', user, password: 'x' }, { 'X-Forwarded-For': freshAddress() });
  const statuses = (replies: readonly { status: number }[]) => replies.map(({ status }) => status);
  const metrics = async () => (await call(limits.operatorUrl, 'GET', '/metrics')).bytes.toString('utf8');
  /** The sum of the values of a series, of all of its labels. */
  const seriesOf = async (name: string) =>
    (await metrics())
      .split('\n')
      .filter((line) => line.startsWith(name))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  /** Waits for a value: the metrics leave out a worker that does not answer at once. @returns that value, or more */
  async function untilSeries(name: string, value: number): Promise<number> {
    for (;;) {
      const sum = await seriesOf(name);
      if (sum >= value) return sum;
    }
  }
  /** Resolves when this many requests in progress were refused. */
  const refusals = (count: number) =>
    untilSeries('limits_decisions_total{rule="concurrent_requests",outcome="refused"}', count);
  function open(text = ''): Socket {
    const socket = connect(Number(new URL(limits.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    if (text !== '') socket.write(text);
    return socket;
  }

  test.each(ROUNDS)('passes exactly 5 of 1,000 parallel guesses while its workers are killed (%i)', async () => {
    await start(4);
    isHolding = true;
    const results: Promise<GuessResult>[] = [];
    const add = (count: number) => {
      for (let i = 0; i < count; i++) results.push(guess(limits.url, 'nora', freshAddress()));
    };
    add(250);
    await loginsAtUpstream(5);
    // Each of these workers has some of the five, whose outcome it takes with it.
    for (const pid of limits.workers) {
      add(150);
      await killWorker(pid);
    }
    add(150);
    for (const response of held) forbid(response);
    const all = await Promise.all(results);
    expect(all).toHaveLength(1_000);
    expect(all.filter((result) => result !== 'lost' && result !== 429 && result !== 403)).toEqual([]);
    expect(upstream.countOf(LOGIN)).toBe(5);
    const window = await call(limits.operatorUrl, 'GET', '/rates/login_account?key=user%3Anora');
    expect(window.body).toMatchObject({ counted: 5, inFlight: 0 });
    // The windows are those of the main process, so the next guess is refused by a worker that has seen none before.
    expect(await guess(limits.url, 'nora', freshAddress())).toBe(429);
  });

  test('counts in all workers together, and shows and lifts it on one listener of the operator', async () => {
    await start(3);
    lanes = await Lane.open(limits.url, 3);
    const sent = [];
    for (let i = 0; i < 7; i++) sent.push(await wrongLogin(lanes[i % 3]!, 'nora'));
    expect(statuses(sent)).toEqual([403, 403, 403, 403, 403, 429, 429]);
    const explain = async () => (await call(limits.operatorUrl, 'GET', '/why?subject=nora')).body;
    // A worker reports a refusal just after its response.
    let why = await explain();
    while (why.refusals.length < 2) why = await explain();
    const rule = why.rules.find(({ rule: name }: { rule: string }) => name === 'login_account');
    expect(rule.requests).toHaveLength(7);
    expect(why.refusals).toHaveLength(2);
    expect(await untilSeries('limits_decisions_total{rule="login_account",outcome="refused"}', 2)).toBe(2);
    const lift = { rule: 'login_account', key: 'user:nora', reason: 'asked for' };
    const headers = { 'Content-Type': 'application/json' };
    expect((await call(limits.operatorUrl, 'POST', '/lifts', { body: lift, headers })).body).toMatchObject({
      lifted: true,
    });
    expect(statuses([await wrongLogin(lanes[0]!, 'nora')])).toEqual([403]);
  });

  test('adds up the metrics of its workers, and keeps those of one that was killed', async () => {
    await start(2);
    lanes = await Lane.open(limits.url, 4);
    const before = await untilSeries('limits_upstream_seconds_count', 4);
    expect(before).toBe(4);
    await killWorker(limits.workers[0]!);
    const [fresh] = await Lane.open(limits.url, 1);
    lanes.push(fresh!);
    expect(await untilSeries('limits_upstream_seconds_count', before + 1)).toBe(before + 1);
  });

  test('has the metrics on the listener for clients without one of the operator', async () => {
    await start(2, '');
    lanes = await Lane.open(limits.url, 2);
    for (const lane of lanes) {
      let text = '';
      // A worker that does not answer at once is left out.
      while (!/^limits_upstream_seconds_count\{kind="forwarded"\} [2-9]/m.test(text))
        ({ text } = await lane.call('GET', '/metrics'));
      expect(text).toMatch(/^limits_upstream_seconds_count\{kind="forwarded"\} 2$/m);
    }
  });

  test('applies a reload in every worker, and in those that start later', async () => {
    await start(2);
    lanes = await Lane.open(limits.url, 2);
    const text = (limit: number) =>
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\nworkers = 2\n[gateway]\nupstream = "${upstream.url}"\n` +
      `${OPERATOR}[[rules]]\nname = "messages"\non = ["message"]\nby = "user"\nlimit = ${limit}\nwindow = "1h"\n`;
    const send = (lane: Lane, id: number) => lane.call('PUT', `${CLIENT}/rooms/!r:b/send/m.x/${id}`, {}, TOKEN);
    await limits.configure(text(2));
    await limits.reload();
    await limits.logged(({ msg }) => msg === 'the workers have the configuration');
    expect(statuses([await send(lanes[0]!, 1), await send(lanes[1]!, 2), await send(lanes[0]!, 3)])).toEqual([
      200, 200, 429,
    ]);
    for (const pid of limits.workers) await killWorker(pid);
    // The file is invalid now, and the configuration in force is the one before.
    await limits.configure('[server]\nworkers = 0\n');
    expect(await limits.reload()).toContain('could not be reloaded');
    const [fresh] = await Lane.open(limits.url, 1);
    lanes.push(fresh!);
    expect(statuses([await send(fresh!, 4)])).toEqual([429]);
  });

  test('never exceeds a cap by parallel writes in several workers, and counts again after a kill', async () => {
    await start(3, `${OPERATOR}[limits]\npushers_per_user = 5\n`);
    lanes = await Lane.open(limits.url, 6);
    const set = (lane: Lane, index: number) =>
      lane.call('POST', `${PUSHERS}/set`, { app_id: 'a', pushkey: `k${index}`, kind: 'http' }, TOKEN);
    const first = await Promise.all(Array.from({ length: 30 }, (_, index) => set(lanes[index % 6]!, index)));
    expect(first.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(pushers).toHaveLength(5);
    for (const pid of limits.workers) await killWorker(pid);
    const [fresh] = await Lane.open(limits.url, 1);
    lanes.push(fresh!);
    expect((await set(fresh!, 40)).status).toBe(400);
  });

  test('counts the delayed events of all workers where the homeserver does not list them', async () => {
    const respond = upstream.respond;
    upstream.respond = (request, response) => {
      const { url = '' } = request;
      if (url.includes('delayed_events')) return void response.writeHead(404).end('{"errcode":"M_UNRECOGNIZED"}');
      if (url.includes('delay=')) return void response.end(`{"delay_id":"d${upstream.requests.length}"}`);
      respond(request, response);
    };
    await start(2, `${OPERATOR}[delayed_events]\nmax_per_room = 3\n`);
    lanes = await Lane.open(limits.url, 2);
    const path = `${CLIENT}/rooms/!r:b.example/send/m.x`;
    const delay = 'org.matrix.msc4140.delay=60000';
    const schedule = (lane: Lane, id: number) => lane.call('PUT', `${path}/${id}?${delay}`, {}, TOKEN);
    const sent = [];
    for (let id = 0; id < 4; id++) sent.push(await schedule(lanes[id % 2]!, id));
    expect(statuses(sent)).toEqual([200, 200, 200, 400]);
    // The same transaction again is free, in the other worker too, and so it is after a kill.
    expect(statuses([await schedule(lanes[1]!, 0)])).toEqual([200]);
    for (const pid of limits.workers) await killWorker(pid);
    const [fresh] = await Lane.open(limits.url, 1);
    lanes.push(fresh!);
    expect(statuses([await schedule(fresh!, 9), await schedule(fresh!, 1)])).toEqual([400, 200]);
  });

  test('refuses an upload above the cap, and upgrades connections, in each worker', async () => {
    await start(2);
    lanes = await Lane.open(limits.url, 2);
    upstream.upgrade = (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.pipe(socket);
    };
    for (let i = 0; i < 2; i++) {
      const upload = open(
        `POST /_matrix/media/v3/upload HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Length: 52428801\r\n\r\n`,
      );
      const [refusal] = (await once(upload, 'data')) as [Buffer];
      expect(refusal.toString('latin1')).toMatch(/^HTTP\/1\.1 413 /);
      const upgraded = open('GET /socket HTTP/1.1\r\nHost: b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      const [head] = (await once(upgraded, 'data')) as [Buffer];
      expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
      upgraded.write('hello');
      expect(String((await once(upgraded, 'data'))[0])).toBe('hello');
    }
  });

  test('bounds the connections and the requests in progress of a source over all workers', async () => {
    await start(2, OPERATOR, 'concurrent_requests_per_source = 3\n');
    isHolding = true;
    const from = freshAddress();
    const results = Array.from({ length: 8 }, (_, index) => guess(limits.url, `user${index}`, from));
    await loginsAtUpstream(3);
    await refusals(5);
    for (const pid of limits.workers) await killWorker(pid);
    expect((await Promise.all(results)).sort()).toEqual([...Array<number>(5).fill(429), 'lost', 'lost', 'lost']);
    expect(upstream.countOf(LOGIN)).toBe(3);
    // The killed workers have given back their places.
    isHolding = false;
    expect(await guess(limits.url, 'user9', from)).toBe(403);
  });

  test('closes the connections of a source beyond its bound, which those of a killed worker no longer count for', async () => {
    limits = await LimitsProcess.start(
      `[server]\nworkers = 2\nconnections_per_source = 4\n[gateway]\nupstream = "${upstream.url}"\n`,
    );
    const ask = 'GET /_matrix/client/versions HTTP/1.1\r\nHost: b\r\n\r\n';
    const four = [open(ask), open(ask), open(ask), open(ask)];
    await Promise.all(four.map((socket) => once(socket, 'data')));
    const fifth = open(ask);
    await closeOf(fifth);
    expect(fifth.bytesRead).toBe(0);
    const closed = four.map(closeOf);
    await killWorker(limits.workers[0]!);
    await Promise.race(closed);
    const again = open(ask);
    expect(String((await once(again, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('ends with open connections, upgraded ones and a request in progress, and its workers with it', async () => {
    await start(2);
    upstream.upgrade = (_request, socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.resume().once('end', () => socket.end());
    };
    lanes = await Lane.open(limits.url, 2);
    await once(open('GET /socket HTTP/1.1\r\nHost: b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'), 'data');
    open('GET /half HTTP/1.1\r\nHost');
    isHolding = true;
    const result = guess(limits.url, 'nora', freshAddress());
    await loginsAtUpstream(1);
    const { workers } = limits;
    const ended = limits.end();
    await limits.logged(({ msg }) => msg.includes('shutting down'));
    forbid(held[0]!);
    expect(await result).toBe(403);
    await ended;
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(limits.exitCode).toBe(0);
  });

  test('has no worker left after the main process was killed', async () => {
    await start(2);
    const { workers } = limits;
    await limits.end('SIGKILL');
    for (const pid of workers) await untilGone(pid);
  });

  (hasPrlimit ? test : test.skip)(
    'gives connections to another worker when one has no file descriptor left',
    async () => {
      await start(2);
      lanes = await Lane.open(limits.url, 2);
      const [full = 0, other = 0] = limits.workers;
      limitDescriptors(full, 0);
      const more = await Lane.open(limits.url, 6);
      lanes.push(...more);
      expect(statuses(await Promise.all(more.map((lane) => wrongLogin(lane, 'nora'))))).toContain(403);
      // With no descriptor in any of them, a connection is closed instead of waiting forever. The first one may have
      // closed an idle connection to the upstream in the meantime.
      for (const pid of [full, other]) limitDescriptors(pid, 0);
      const last = open('GET /_matrix/client/versions HTTP/1.1\r\nHost: b\r\n\r\n');
      await closeOf(last);
      expect(last.bytesRead).toBe(0);
      await limits.logged(({ msg }) => msg === 'a connection was closed, because no worker could take it');
    },
  );

  test('does not start when a worker can not, and tries again with one that ended', async () => {
    await expect(
      start(2, `${OPERATOR.replace('[operator]', 'appservices = ["/nowhere.yaml"]\n[operator]')}`),
    ).rejects.toThrow(/server\.workers: a worker could not start: .*\/nowhere\.yaml: cannot be read/s);
    limits = await LimitsProcess.prepare('');
    const file = join(limits.folder, 'service.yaml');
    const registration = 'id: s\nas_token: t\nsender_localpart: s\nnamespaces: {}\n';
    await writeFile(file, registration);
    await limits.configure(
      `[server]\nworkers = 2\n[gateway]\nupstream = "${upstream.url}"\nappservices = ["${file}"]\n`,
    );
    await limits.launch();
    await rm(file);
    process.kill(limits.workers[0]!, 'SIGKILL');
    await limits.logged(({ msg }) => msg === 'a worker could not start; it is tried again');
    expect((await call(limits.url, 'GET', '/_matrix/client/versions')).status).toBe(200);
    await writeFile(file, registration);
    await limits.logged(({ msg }) => msg === REPLACED);
  });

  (redisProgram ? test : test.skip)('shares its windows with another gateway on Redis', async () => {
    const redis = await RedisServer.start();
    const shared = `${OPERATOR}[shared]\nurl = "redis://127.0.0.1:${redis.port}"\ntimeout_ms = 1500\n`;
    await start(2, shared);
    const first = limits;
    try {
      await start(2, shared);
      for (const gateway of [first, limits]) await gateway.untilShared();
      lanes = [...(await Lane.open(first.url, 2)), ...(await Lane.open(limits.url, 2))];
      const sent = [];
      for (let i = 0; i < 6; i++) sent.push(await wrongLogin(lanes[i % 4]!, 'nora'));
      expect(statuses(sent)).toEqual([403, 403, 403, 403, 403, 429]);
    } finally {
      await first.dispose();
      await redis.dispose();
    }
  });
});

const closeOf = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

/** Resolves when a process has ended. */
async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resume) => setImmediate(resume));
  }
}

/** Leaves a process this many file descriptors beyond those that it has open. */
function limitDescriptors(pid: number, more: number): void {
  const open = readdirSync(`/proc/${pid}/fd`).map(Number);
  const free = Array.from({ length: 1_024 }, (_, fd) => fd).filter((fd) => !open.includes(fd));
  spawnSync('prlimit', ['--pid', String(pid), `--nofile=${free[more]!}`]);
}
