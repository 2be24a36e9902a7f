import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canCreateCertificates, Certificate } from './testing/certificate.js';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freshAddress } from './testing/matrix-user.js';
import { RecordingUpstream } from './testing/recording-upstream.js';
import { redisProgram, RedisServer } from './testing/redis-server.js';

const suite = redisProgram ? describe : describe.skip;
const missing = 'neither redis-server nor valkey-server is installed';
const UNAVAILABLE = 'the shared windows are unavailable: this gateway counts on its own';
const AVAILABLE = 'the shared windows are available again: all gateways count together';
const OPERATOR = '[operator]\nlisten = "127.0.0.1:0"\n';
/** Longer than any decision may take without a response of the server, and far below the upstream's timeout. */
const NO_HANG_MS = 60_000;
/** A busy machine must not make the server look slow. */
const TIMEOUT_MS = 1_500;

suite(`two gateways that share windows on ${redisProgram ?? `a server (${missing})`}`, () => {
  let redis: RedisServer;
  let upstream: RecordingUpstream;
  let gateways: LimitsProcess[];

  const toml = (extra = '') =>
    `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n[gateway]\nupstream = "${upstream.url}"\n${extra}`;

  beforeAll(async () => {
    redis = await RedisServer.start();
    upstream = await RecordingUpstream.listen();
    upstream.respond = (_request, response) => {
      const right = upstream.last.body.toString('utf8').includes('right');
      response.writeHead(right ? 200 : 403, { 'Content-Type': 'application/json' });
      response.end(right ? '{"user_id":"@nora:b.example"}' : '{"errcode":"M_FORBIDDEN","error":"wrong"}');
    };
    const shared = toml(`${OPERATOR}[shared]\nurl = "redis://127.0.0.1:${redis.port}"\ntimeout_ms = ${TIMEOUT_MS}\n`);
    gateways = await Promise.all([LimitsProcess.start(shared), LimitsProcess.start(shared)]);
    for (const gateway of gateways) await gateway.untilShared();
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.dispose();
    await upstream.close();
    await redis.dispose();
  });
  beforeEach(() => {
    upstream.requests.length = 0;
  });

  async function login(node: number, user: string, password = 'guess'): Promise<number> {
    const body = { type: 'm.login.password', user, password };
    const began = Date.now();
    const reply = await call(gateways[node]!.url, 'POST', '/_matrix/client/v3/login', { body, from: freshAddress() });
    expect(Date.now() - began).toBeLessThan(NO_HANG_MS);
    return reply.status;
  }

  async function logins(times: number, user: string): Promise<number[]> {
    const statuses: number[] = [];
    for (let i = 0; i < times; i++) statuses.push(await login(i % 2, user));
    return statuses;
  }

  const metricOf = async (node: number) =>
    /^limits_windows_are_shared ([01])$/m.exec(
      (await call(gateways[node]!.operatorUrl, 'GET', '/metrics')).bytes.toString(),
    )?.[1];

  const marks = () => gateways.map(({ log }) => log.length);
  const allLog = (msg: string, since: number[]) =>
    Promise.all(gateways.map((gateway, node) => gateway.logged((line) => line.msg === msg, since[node])));

  test('verify five wrong passwords together, and refuse the sixth on either', async () => {
    expect(await logins(5, 'nora')).toEqual([403, 403, 403, 403, 403]);
    expect([await login(0, 'nora'), await login(1, 'nora')]).toEqual([429, 429]);
    expect(upstream.requests).toHaveLength(5);
    expect([await metricOf(0), await metricOf(1)]).toEqual(['1', '1']);
  });

  test('verify exactly five of a hundred parallel passwords', async () => {
    const statuses = await Promise.all(Array.from({ length: 100 }, (_, i) => login(i % 2, 'parallel')));
    expect(statuses.filter((status) => status === 429)).toHaveLength(95);
    expect(upstream.requests).toHaveLength(5);
  });

  test('reset on both after a success on one', async () => {
    await logins(4, 'forgetful');
    expect(await login(0, 'forgetful', 'right')).toBe(200);
    expect(await logins(6, 'forgetful')).toEqual([403, 403, 403, 403, 403, 429]);
  });

  test('show and reset a key through either operator listener', async () => {
    await logins(5, 'locked');
    const key = '/rates/login_account?key=user%3Alocked';
    expect((await call(gateways[1]!.operatorUrl, 'GET', key)).body).toMatchObject({ counted: 5, limit: 5 });
    expect((await call(gateways[1]!.operatorUrl, 'DELETE', key)).body).toMatchObject({ forgiven: true });
    expect(await login(0, 'locked')).toBe(403);
  });

  test('count separately while the server is down, and together again when it is back', async () => {
    expect(await logins(2, 'outage')).toEqual([403, 403]);
    const lost = marks();
    await redis.kill();
    // Each has counted one failure before: four more each.
    expect(await logins(10, 'outage')).toEqual([...Array<number>(8).fill(403), 429, 429]);
    await allLog(UNAVAILABLE, lost);
    expect([await metricOf(0), await metricOf(1)]).toEqual(['0', '0']);
    const found = marks();
    await redis.launch();
    await allLog(AVAILABLE, found);
    expect([await metricOf(0), await metricOf(1)]).toEqual(['1', '1']);
    expect(await logins(6, 'after')).toEqual([403, 403, 403, 403, 403, 429]);
  });

  test('do not wait for a frozen server, and use it again when it responds', async () => {
    const lost = marks();
    redis.freeze();
    expect(await logins(12, 'frozen')).toEqual([...Array<number>(10).fill(403), 429, 429]);
    await allLog(UNAVAILABLE, lost);
    const found = marks();
    redis.thaw();
    await allLog(AVAILABLE, found);
    expect(await logins(6, 'thawed')).toEqual([403, 403, 403, 403, 403, 429]);
  });

  test('start without the server, and log it', async () => {
    const alone = await LimitsProcess.start(toml('[shared]\nurl = "redis://:hunter2@127.0.0.1:1"\n'));
    await alone.logged(({ msg }) => msg === UNAVAILABLE);
    const body = { type: 'm.login.password', user: 'alone', password: 'guess' };
    expect((await call(alone.url, 'POST', '/_matrix/client/v3/login', { body })).status).toBe(403);
    expect(JSON.stringify(alone.log)).not.toContain('hunter2');
    await alone.dispose();
  });

  (canCreateCertificates ? test : test.skip)(
    'reach it over TLS with a password from a file, which is never revealed',
    async () => {
      const certificate = await Certificate.create();
      const secure = await RedisServer.start('hunter2', certificate);
      const gateway = await LimitsProcess.prepare('');
      await writeFile(join(gateway.folder, 'password'), 'hunter2\n');
      const [password, ca] = [`${gateway.folder}/password`, certificate.certPath];
      const url = `rediss://127.0.0.1:${secure.port}`;
      await gateway.configure(
        toml(`${OPERATOR}[shared]\nurl = "${url}"\npassword_file = "${password}"\nca_file = "${ca}"\n`),
      );
      await gateway.launch();
      await gateway.untilShared();
      await gateway.end();
      await gateway.configure(toml(`[shared]\nurl = "${url}"\npassword_file = "${password}"\n`));
      const trusted = gateway.log.length;
      await gateway.launch();
      expect(JSON.stringify(await gateway.logged(({ msg }) => msg === UNAVAILABLE, trusted))).toContain('self-signed');
      await gateway.end();
      await writeFile(join(gateway.folder, 'password'), 'wrong-hunter2\n');
      await gateway.configure(
        toml(`${OPERATOR}[shared]\nurl = "${url}"\npassword_file = "${password}"\nca_file = "${ca}"\n`),
      );
      const before = gateway.log.length;
      await gateway.launch();
      expect(JSON.stringify(await gateway.logged(({ msg }) => msg === UNAVAILABLE, before))).toContain('WRONGPASS');
      expect(JSON.stringify(gateway.log)).not.toContain('hunter2');
      await gateway.dispose();
      await secure.dispose();
      await certificate.dispose();
    },
  );
});
