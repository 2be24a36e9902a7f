import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';
import { RecordingUpstream } from './testing/recording-upstream.js';
import { freePort } from './testing/ports.js';

const MAIN = resolve(import.meta.dirname, '../../homeserver-limits/dist/main.js');
const LOGIN = '/_matrix/client/v3/login';
const wrong = (user: string) => ({ type: 'm.login.password', user, password: 'not this' });
/** How long the gateway waits for a silent upstream. A busy machine must not make the others look silent. */
const SILENCE_MS = 10_000;
const OPERATOR = '[operator]\nlisten = "127.0.0.1:0"\n';

describe('what an operator sees of a gateway', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\ntimeout_ms = ${SILENCE_MS}\n${OPERATOR}`,
    );
  });
  afterAll(async () => {
    await limits?.dispose();
    await upstream?.close();
  });

  const metrics = async () => (await call(limits.operatorUrl, 'GET', '/metrics')).bytes.toString();
  /** The value of a series; undefined if there is none. */
  const series = async (name: string) => {
    const line = (await metrics()).split('\n').find((text) => text.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  };

  test('every series exists before the first request', async () => {
    const text = await metrics();
    const rates = ['login_account', 'login_source', 'register', 'ring', 'openid_token', 'sfu_credential'];
    const caps = ['filters', 'account_data', 'one_time_keys', 'pushers', 'delayed_events'];
    const single = ['longest_delay', 'media_upload', 'federation_pdus', 'federation_transaction_id'];
    for (const rule of [...rates, ...caps, ...single]) {
      for (const outcome of ['granted', 'refused', 'shadow_refused']) {
        expect(text).toContain(`limits_decisions_total{rule="${rule}",outcome="${outcome}"} 0\n`);
      }
    }
    for (const rule of rates) expect(text).toContain(`limits_near_limit_total{rule="${rule}"} 0\n`);
    for (const status of [502, 503, 504])
      expect(text).toContain(`limits_upstream_failures_total{status="${status}"} 0\n`);
    for (const kind of ['forwarded', 'long_poll', 'query']) {
      expect(text).toContain(`limits_upstream_seconds_count{kind="${kind}"} 0\n`);
    }
    for (const result of ['hit', 'miss']) {
      for (const cache of ['callers', 'counts']) {
        expect(text).toContain(`limits_cache_lookups_total{cache="${cache}",result="${result}"} 0\n`);
      }
    }
    expect(text).toContain('limits_untrusted_forwarded_total 0\n');
    expect(text).toContain('limits_upstream_waiting_requests 0\n');
  });

  test('metrics are on the listener of the operator only', async () => {
    upstream.respond = (_request, response) => response.writeHead(404).end('{}');
    expect((await call(limits.url, 'GET', '/metrics')).status).toBe(404);
    expect(upstream.last.target).toBe('/metrics');
  });

  test('the latency of the homeserver, by kind of request', async () => {
    upstream.respond = (_request, response) => response.end('{"user_id":"@a:b.example"}');
    await call(limits.url, 'GET', '/_matrix/client/v3/sync?timeout=30000', { token: 't' });
    await call(limits.url, 'GET', '/_matrix/client/v3/joined_rooms', { token: 't' });
    const openId = '/_matrix/client/v3/user/@a:b.example/openid/request_token';
    for (let i = 0; i < 2; i++) await call(limits.url, 'POST', openId, { token: 't', body: {} });
    expect(await series('limits_upstream_seconds_count{kind="long_poll"}')).toBe(1);
    expect(await series('limits_upstream_seconds_count{kind="forwarded"}')).toBeGreaterThanOrEqual(3);
    expect(await series('limits_upstream_seconds_count{kind="query"}')).toBe(1);
    expect(await series('limits_cache_lookups_total{cache="callers",result="miss"}')).toBe(1);
    expect(await series('limits_cache_lookups_total{cache="callers",result="hit"}')).toBe(1);
  });

  test('its failures, by status', async () => {
    upstream.respond = (request) => request.socket.destroy();
    expect((await call(limits.url, 'GET', '/_matrix/client/v3/joined_rooms')).status).toBe(502);
    upstream.respond = () => undefined;
    expect((await call(limits.url, 'GET', '/_matrix/client/v3/joined_rooms')).status).toBe(504);
    expect(await series('limits_upstream_failures_total{status="502"}')).toBe(1);
    expect(await series('limits_upstream_failures_total{status="504"}')).toBe(1);
  });

  test('keys that are close to their limit, then the refusal with its rule, its key and the reason', async () => {
    upstream.respond = (_request, response) => response.writeHead(403).end('{"errcode":"M_FORBIDDEN"}');
    const from = limits.log.length;
    for (let i = 0; i < 7; i++) await call(limits.url, 'POST', LOGIN, { body: wrong('victim') });
    expect(await series('limits_near_limit_total{rule="login_account"}')).toBeGreaterThanOrEqual(1);
    expect(await series('limits_decisions_total{rule="login_account",outcome="refused"}')).toBe(2);
    const line = await limits.logged(({ msg }) => msg === 'a request was refused', from);
    const refusal = { rule: 'login_account', key: 'user:victim', reason: 'limit', limit: 5, address: '127.0.0.1' };
    expect(line).toMatchObject(refusal);
    const { refusals } = (await call(limits.operatorUrl, 'GET', '/refusals?rule=login_account')).body;
    expect(refusals).toHaveLength(2);
    expect(refusals[0]).toMatchObject(refusal);
    const logged = JSON.stringify(limits.log);
    for (const secret of ['not this', 'Bearer']) expect(logged).not.toContain(secret);
  });

  test('a warning about X-Forwarded-For from an address that is not trusted', async () => {
    const before = (await series('limits_untrusted_forwarded_total')) ?? 0;
    await call(limits.url, 'GET', '/_matrix/client/versions', { from: '192.0.2.1' });
    const warning = await limits.logged(({ msg }) => msg.startsWith('X-Forwarded-For was ignored'));
    expect(warning).toMatchObject({ peer: expect.stringContaining('127.0.0.1') });
    expect(await series('limits_untrusted_forwarded_total')).toBe(before + 1);
  });

  test('liveness and readiness', async () => {
    expect((await call(limits.operatorUrl, 'GET', '/healthz')).body).toEqual({ status: 'ok' });
    expect((await call(limits.operatorUrl, 'GET', '/readyz')).body).toEqual({ status: 'ready' });
  });
});

test('a proxy network of all addresses is reported at the start', async () => {
  const limits = await LimitsProcess.start('[server]\ntrusted_proxies = ["0.0.0.0/0"]\n');
  try {
    await limits.logged(({ msg }) => msg.startsWith('server.trusted_proxies trusts every address'));
  } finally {
    await limits.dispose();
  }
});

describe('the request log', () => {
  test('of a running server, replayed under the same rules, has the same refusals; under others, theirs', async () => {
    const limits = await LimitsProcess.prepare('');
    const file = join(limits.folder, 'requests.jsonl');
    const terms = '[rates.register]\nlimit = 1000\n';
    const config = `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n${terms}[log]\nrequests_file = "${file}"\n`;
    await limits.configure(config);
    await limits.launch(`127.0.0.1:${await freePort()}`);
    try {
      const users = await Promise.all([1, 2, 3].map(() => MatrixUser.register(limits.url)));
      const room = await users[0]!.createRoom();
      const refused: number[] = [];
      const send = async (work: Promise<{ status: number }>) => void refused.push((await work).status);
      await Promise.all(
        Array.from({ length: 120 }, (_, i) => {
          const user = users[i % 3]!;
          if (i % 4 === 0)
            return send(user.call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/${i}`, {}));
          if (i % 4 === 1) return send(user.call('POST', user.path('openid/request_token'), {}));
          if (i % 4 === 2)
            return send(call(limits.url, 'POST', LOGIN, { body: wrong(users[i % 2]!.name), from: '10.7.7.7' }));
          return send(
            users[0]!.call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.room.message/${i}`, { body: 'words' }),
          );
        }),
      );
      await limits.end();
      const rules = join(limits.folder, 'rules.toml');
      await writeFile(rules, terms);
      const replayed = () => {
        const args = [MAIN, 'replay', '--json', '--log', file, '--rules', rules];
        return JSON.parse(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout) as Record<string, number>;
      };
      const count = refused.filter((status) => status === 429).length;
      expect(count).toBeGreaterThan(20);
      expect(replayed()).toMatchObject({
        refused: count,
        refusedThen: count,
        refusedNow: 0,
        grantedNow: 0,
        invalidLines: 0,
      });
      await writeFile(
        rules,
        `${terms}[[rules]]\nname = "chat"\non = ["message"]\nby = "user"\nlimit = 7\nwindow = "1h"\n`,
      );
      // Rings are messages too: the first user sends 40 and the others 10 each.
      expect(replayed()).toMatchObject({ refusedNow: 33 + 3 + 3, grantedNow: 0 });
      const text = await readFile(file, 'utf8');
      for (const secret of [users[0]!.token, MatrixUser.password, 'words', 'not this'])
        expect(text).not.toContain(secret);
    } finally {
      await limits.dispose();
    }
  });

  test('continues in a new file after it was renamed and the configuration reloaded', async () => {
    const limits = await LimitsProcess.prepare('');
    const file = join(limits.folder, 'requests.jsonl');
    await limits.configure(`[log]\nrequests_file = "${file}"\n`);
    await limits.launch();
    try {
      await call(limits.url, 'POST', LOGIN, { body: wrong('first') });
      const { rename } = await import('node:fs/promises');
      await rename(file, `${file}.1`);
      await limits.reload();
      await call(limits.url, 'POST', LOGIN, { body: wrong('second') });
      await limits.end();
      expect(await readFile(`${file}.1`, 'utf8')).not.toContain('second');
      expect(await readFile(file, 'utf8')).toContain('second');
    } finally {
      await limits.dispose();
    }
  });

  test('in a folder that does not exist prevents the start, with the reason', async () => {
    await expect(LimitsProcess.start('[log]\nrequests_file = "/nonexistent/requests.jsonl"\n')).rejects.toThrow(
      'log.requests_file cannot be written',
    );
  });
});
