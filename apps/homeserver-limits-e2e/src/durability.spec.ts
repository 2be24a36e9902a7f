import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { call, type Reply } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';
import { idOf, Peer } from './testing/peer.js';

const SERVER = '[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n';

describe('an embedded server', () => {
  let limits: LimitsProcess;
  beforeEach(async () => {
    limits = await LimitsProcess.start(SERVER);
  });
  afterEach(() => limits.dispose());

  test('logs that it is not a full homeserver', async () => {
    await limits.logged(({ msg }) => msg.includes('not a full homeserver'));
  });

  test('loses no acknowledged write when it is killed', async () => {
    const user = await MatrixUser.register(limits.url);
    const room = await user.createRoom();
    const sent: string[] = [];
    let dead = false;
    const write = async (worker: number) => {
      for (let i = 0; !dead; i++) {
        const target = `/_matrix/client/v3/rooms/${room}/send/m.x/${worker}-${i}`;
        const reply = await user.call('PUT', target, { i }).catch(() => undefined);
        if (reply?.status === 200) sent.push(reply.body.event_id);
        if (!reply) return;
      }
    };
    const writers = Array.from({ length: 8 }, (_, worker) => write(worker));
    while (sent.length < 200) await new Promise((resume) => setImmediate(resume));
    await limits.end('SIGKILL');
    dead = true;
    await Promise.all(writers);

    await limits.launch();
    const after = user.through(limits.url);
    const found = await Promise.all(
      sent.map(async (id) => (await after.call('GET', `/_matrix/client/v3/rooms/${room}/event/${id}`)).status),
    );
    expect(sent.length).toBeGreaterThanOrEqual(200);
    expect(found.every((status) => status === 200)).toBe(true);
    const again = await after.call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.x/0-0`, { i: 0 });
    expect(sent).toContain(again.body.event_id);
  });

  test('keeps every other kind of acknowledged write when it is killed, and a claimed key stays claimed', async () => {
    const [user, other] = [await MatrixUser.register(limits.url), await MatrixUser.register(limits.url)];
    const client = '/_matrix/client/v3';
    const done = async (reply: Promise<Reply>) => {
      const { status, body } = await reply;
      expect(status).toBe(200);
      return body;
    };
    const room = await user.createRoom({ room_alias_name: 'first', invite: [other.userId] });
    await done(other.call('POST', `${client}/rooms/${room}/join`));
    await done(user.call('PUT', `${client}/rooms/${room}/state/m.x/key`, { set: 1 }));
    await done(user.call('PUT', `${client}/directory/room/%23second:b.example`, { room_id: room }));
    await done(user.call('PUT', user.path(`rooms/${room}/tags/u.t`), { order: 0.5 }));
    await done(user.call('PUT', user.path('account_data/kept'), { a: 1 }));
    await done(user.call('PUT', user.path('account_data/gone'), { a: 1 }));
    await done(user.call('PUT', user.path('account_data/gone'), {}));
    const { filter_id } = await done(user.call('POST', user.path('filter'), { room: { timeline: { limit: 7 } } }));
    const pusher = {
      pushkey: 'k',
      app_id: 'app',
      kind: 'http',
      app_display_name: 'A',
      device_display_name: 'D',
      lang: 'en',
      data: { url: 'https://push.example/_matrix/push/v1/notify' },
    };
    await done(user.call('POST', `${client}/pushers/set`, pusher));
    const identity = { user_id: user.userId, device_id: user.deviceId, algorithms: [], keys: {}, signatures: {} };
    const keys = { 'signed_curve25519:1': { key: '1' }, 'signed_curve25519:2': { key: '2' } };
    const fallback_keys = { 'signed_curve25519:f': { key: 'f', fallback: true } };
    const uploaded = { device_keys: identity, one_time_keys: keys, fallback_keys };
    await done(user.call('POST', `${client}/keys/upload`, uploaded));
    const claim = { one_time_keys: { [user.userId]: { [user.deviceId]: 'signed_curve25519' } } };
    const claims = async (who: MatrixUser) =>
      Object.keys(
        (await done(who.call('POST', `${client}/keys/claim`, claim))).one_time_keys[user.userId][user.deviceId],
      );
    const claimed = [await claims(other)];
    const { access_token } = await done(user.call('POST', user.path('openid/request_token'), {}));
    const login = { type: 'm.login.password', user: other.name, password: MatrixUser.password };
    const second = (await done(call(limits.url, 'POST', `${client}/login`, { body: login }))).access_token;
    await done(call(limits.url, 'POST', `${client}/logout`, { token: second }));

    await limits.end('SIGKILL');
    await limits.launch();

    const [after, otherAfter] = [user.through(limits.url), other.through(limits.url)];
    const get = (path: string) => done(after.call('GET', path));
    expect(await get(`${client}/account/whoami`)).toMatchObject({ user_id: user.userId, device_id: user.deviceId });
    expect(Object.keys((await get(`${client}/rooms/${room}/joined_members`)).joined)).toHaveLength(2);
    expect(await get(`${client}/rooms/${room}/state/m.x/key`)).toEqual({ set: 1 });
    expect((await get(`${client}/rooms/${room}/aliases`)).aliases).toEqual(['#first:b.example', '#second:b.example']);
    expect(await get(user.path(`rooms/${room}/tags`))).toEqual({ tags: { 'u.t': { order: 0.5 } } });
    expect(await get(user.path('account_data/kept'))).toEqual({ a: 1 });
    expect((await after.call('GET', user.path('account_data/gone'))).status).toBe(404);
    expect(await get(user.path(`filter/${filter_id}`))).toEqual({ room: { timeline: { limit: 7 } } });
    expect((await get(`${client}/pushers`)).pushers).toEqual([pusher]);
    const query = after.call('POST', `${client}/keys/query`, { device_keys: { [user.userId]: [] } });
    expect((await done(query)).device_keys[user.userId][user.deviceId]).toEqual(identity);
    for (let i = 0; i < 3; i++) claimed.push(await claims(otherAfter));
    expect(claimed.flat()).toEqual(['1', '2', 'f', 'f'].map((id) => `signed_curve25519:${id}`));
    const userinfo = `/_matrix/federation/v1/openid/userinfo?access_token=${access_token}`;
    expect(await get(userinfo)).toEqual({ sub: user.userId });
    expect((await call(limits.url, 'GET', `${client}/account/whoami`, { token: second })).status).toBe(401);
  });

  test('loses no acknowledged upload or claim when it is killed among them', async () => {
    const [user, other] = [await MatrixUser.register(limits.url), await MatrixUser.register(limits.url)];
    const names = Array.from({ length: 1000 }, (_, i) => `signed_curve25519:${i}`);
    const one_time_keys = Object.fromEntries(names.map((name) => [name, { key: name }]));
    await user.call('POST', '/_matrix/client/v3/keys/upload', { one_time_keys });
    const claim = { one_time_keys: { [user.userId]: { [user.deviceId]: 'signed_curve25519' } } };
    const claimOne = async (who: MatrixUser) => {
      const reply = await who.call('POST', '/_matrix/client/v3/keys/claim', claim).catch(() => undefined);
      const given = reply?.body?.one_time_keys[user.userId]?.[user.deviceId];
      return given && Object.keys(given)[0];
    };
    const [given, media]: [string[], Map<string, Buffer>] = [[], new Map()];
    let dead = false;
    const claimAll = async () => {
      while (!dead) {
        const name = await claimOne(other);
        if (name === undefined) return;
        given.push(name);
      }
    };
    const uploadAll = async (worker: number) => {
      for (let i = 0; !dead; i++) {
        const bytes = Buffer.alloc(50_000 + i, `${worker}-${i} `);
        const reply = await user.call('POST', '/_matrix/media/v3/upload', bytes).catch(() => undefined);
        if (reply?.status === 200) media.set(reply.body.content_uri, bytes);
        if (!reply) return;
      }
    };
    const workers = [claimAll(), claimAll(), ...[1, 2, 3, 4].map(uploadAll)];
    while (media.size < 60 || given.length < 60) await new Promise((resume) => setImmediate(resume));
    await limits.end('SIGKILL');
    dead = true;
    await Promise.all(workers);

    await limits.launch();
    const [after, otherAfter] = [user.through(limits.url), other.through(limits.url)];
    for (const [uri, bytes] of media) {
      const reply = await after.call('GET', `/_matrix/client/v1/media/download/${uri.slice('mxc://'.length)}`);
      expect(reply.bytes.equals(bytes)).toBe(true);
    }
    for (let name = await claimOne(otherAfter); name !== undefined; name = await claimOne(otherAfter)) given.push(name);
    expect(new Set(given).size).toBe(given.length);
    const folder = await readdir(join(limits.folder, 'data', 'media'));
    expect(folder.filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('sends overdue delayed events at the start, and keeps the others', async () => {
    const user = await MatrixUser.register(limits.url);
    const room = await user.createRoom();
    const later = async (key: string, delay: number) => {
      const target = `/_matrix/client/v3/rooms/${room}/state/m.x/${key}?org.matrix.msc4140.delay=${delay}`;
      return (await user.call('PUT', target, { key })).body.delay_id as string;
    };
    await later('soon', 300);
    const far = await later('far', 3_600_000);
    await limits.end('SIGKILL');
    const down = Date.now();
    while (Date.now() - down < 400) await new Promise((resume) => setImmediate(resume));
    await limits.launch();
    const after = user.through(limits.url);
    expect((await after.call('GET', `/_matrix/client/v3/rooms/${room}/state/m.x/soon`)).body).toEqual({ key: 'soon' });
    const { body } = await after.call('GET', '/_matrix/client/unstable/org.matrix.msc4140/delayed_events');
    expect(body.delayed_events.map(({ delay_id }: { delay_id: string }) => delay_id)).toEqual([far]);
  });

  test('keeps the actions on delayed events when it is killed', async () => {
    const user = await MatrixUser.register(limits.url);
    const room = await user.createRoom();
    const schedule = async (txn: string) => {
      const target = `/_matrix/client/v3/rooms/${room}/send/m.x/${txn}?org.matrix.msc4140.delay=3600000`;
      return (await user.call('PUT', target, { txn })).body.delay_id as string;
    };
    const [sent, cancelled, restarted, waiting] = [
      ...[await schedule('sent'), await schedule('cancelled')],
      ...[await schedule('restarted'), await schedule('waiting')],
    ];
    const view = async (who: MatrixUser, id = '') =>
      (await who.call('GET', `/_matrix/client/v1/delayed_events/${id}`)).body;
    const before = await view(user, restarted);
    const decide = (id = '', action = '') =>
      user.call('POST', `/_matrix/client/unstable/org.matrix.msc4140/delayed_events/${id}`, { action });
    const decided = [await decide(sent, 'send'), await decide(cancelled, 'cancel'), await decide(restarted, 'restart')];
    expect(decided.map(({ status }) => status)).toEqual([200, 200, 200]);
    await limits.end('SIGKILL');
    await limits.launch();
    const after = user.through(limits.url);
    expect(await view(after, sent)).toMatchObject({ event_id: expect.any(String), finalised_ts: expect.any(Number) });
    expect(await view(after, cancelled)).toMatchObject({ finalised_ts: expect.any(Number) });
    expect((await view(after, restarted)).scheduled_at).toBeGreaterThan(before.scheduled_at);
    const { delayed_events } = (await after.call('GET', '/_matrix/client/v1/delayed_events')).body;
    expect(delayed_events.map(({ delay_id }: { delay_id: string }) => delay_id)).toEqual([waiting, restarted]);
    const again = `/_matrix/client/v3/rooms/${room}/send/m.x/waiting?org.matrix.msc4140.delay=3600000`;
    expect((await after.call('PUT', again, {})).body.delay_id).toBe(waiting);
  });

  test('sends a delayed event when it is due, never before, with its ID for the sender', async () => {
    const user = await MatrixUser.register(limits.url);
    const room = await user.createRoom();
    const before = Date.now();
    const target = `/_matrix/client/v3/rooms/${room}/send/m.x/1?org.matrix.msc4140.delay=250`;
    const { delay_id } = (await user.call('PUT', target, { a: 1 })).body;
    const view = async () => (await user.call('GET', `/_matrix/client/v1/delayed_events/${delay_id}`)).body;
    let event = await view();
    while (event.event_id === undefined) event = await view();
    const sent = (await user.call('GET', `/_matrix/client/v3/rooms/${room}/event/${event.event_id}`)).body;
    expect(sent).toMatchObject({ content: { a: 1 }, unsigned: { delay_id } });
    expect(sent.origin_server_ts - before).toBeGreaterThanOrEqual(250);
  });

  test('keeps the events and transactions of other servers when it is killed', async () => {
    const peer = await Peer.listen();
    await limits.configure(SERVER + peer.toml);
    await limits.end();
    await limits.launch();
    const user = await MatrixUser.register(limits.url);
    const room = await user.createRoom({ preset: 'public_chat' });
    const pdus = [peer.join(room), peer.event(room, { content: { body: 'kept' } })];
    const uri = '/_matrix/federation/v1/send/kept';
    const first = await peer.send(limits.url, { uri, pdus });
    await limits.end('SIGKILL');
    await limits.launch();
    const after = user.through(limits.url);
    for (const id of Object.keys(first.body.pdus)) {
      const target = `/_matrix/client/v3/rooms/${room}/event/${encodeURIComponent(id)}`;
      expect((await after.call('GET', target)).status).toBe(200);
    }
    const again = await peer.send(limits.url, { uri });
    await peer.close();
    expect(first.body).toEqual({ pdus: Object.fromEntries(pdus.map((pdu) => [idOf(pdu), {}])) });
    expect(again.body).toEqual(first.body);
  });

  test('keeps its signing key across restarts', async () => {
    const keys = async () => (await call(limits.url, 'GET', '/_matrix/key/v2/server')).body.verify_keys;
    const before = await keys();
    await limits.end();
    await limits.launch();
    expect(await keys()).toEqual(before);
  });
});

describe('a gateway', () => {
  test('keeps open windows across a restart', async () => {
    const upstream = await LimitsProcess.start(`${SERVER}[ratelimit]\nenabled = false\n`);
    const limits = await LimitsProcess.start(`${SERVER}[gateway]\nupstream = "${upstream.url}"\n`);
    const body = { type: 'm.login.password', user: 'mallory', password: 'x' };
    const attempt = () => call(limits.url, 'POST', '/_matrix/client/v3/login', { body, from: freshAddress() });
    for (let i = 0; i < 5; i++) expect((await attempt()).status).toBe(403);
    await limits.end();
    await limits.launch();
    const reply = await attempt();
    await limits.dispose();
    await upstream.dispose();
    expect(reply.status).toBe(429);
    expect(reply.body.retry_after_ms).toBeLessThan(60_000);
  });

  test('remembers the filters and account-data types of users across a restart', async () => {
    const upstream = await LimitsProcess.start(SERVER);
    const limits = await LimitsProcess.start(
      `${SERVER}[gateway]\nupstream = "${upstream.url}"\n[limits]\nfilters_per_user = 2\naccount_data_per_user = 2\n`,
    );
    const user = await MatrixUser.register(limits.url);
    await user.call('PUT', user.path('account_data/a'), { a: 1 });
    for (const limit of [1, 2]) await user.call('POST', user.path('filter'), { room: { timeline: { limit } } });
    await user.through(upstream.url).call('PUT', user.path('account_data/b'), { a: 1 });
    await limits.end();
    await limits.launch();
    const after = user.through(limits.url);
    const filter = await after.call('POST', user.path('filter'), { room: { timeline: { limit: 3 } } });
    const rewrite = await after.call('PUT', user.path('account_data/b'), { new: true });
    const fresh = await after.call('PUT', user.path('account_data/c'), { a: 1 });
    await limits.dispose();
    await upstream.dispose();
    expect(filter.body.errcode).toBe('M_LIMIT_EXCEEDED');
    expect(rewrite.status).toBe(200);
    expect(fresh.body.errcode).toBe('M_LIMIT_EXCEEDED');
  });
});

describe('the configuration', () => {
  test('is reloaded by SIGHUP, and an invalid file changes nothing', async () => {
    const limits = await LimitsProcess.start(`${SERVER}[ratelimit]\nrings_per_minute = 1\n`);
    const user = await MatrixUser.register(limits.url);
    const room = await user.createRoom();
    const ring = async (txn: number) =>
      (await user.call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/${txn}`, {})).status;
    expect([await ring(1), await ring(2)]).toEqual([200, 429]);
    await limits.configure(`${SERVER}[ratelimit]\nrings_per_minute = 3\n`);
    expect(await limits.reload()).toContain('was reloaded');
    expect([await ring(3), await ring(4), await ring(5)]).toEqual([200, 200, 429]);
    await limits.configure(`${SERVER}[ratelimit]\nrings_per_minute = 0\n`);
    expect(await limits.reload()).toContain('the previous settings stay in force');
    expect(await ring(6)).toBe(429);
    await limits.dispose();
  });

  test.each(['embedded', 'gateway'] as const)(
    'survives a reload of values that are out of range, and reports all of them (%s)',
    async (mode) => {
      const upstream = mode === 'gateway' ? '[gateway]\nupstream = "http://127.0.0.1:1"\n' : '';
      const limits = await LimitsProcess.start(SERVER + upstream);
      await limits.configure(
        `${SERVER}${upstream}[ratelimit]\nrings_per_minute = 2000000\n[limits]\npushers_per_user = 7\nfilters_per_user = 0\n`,
      );
      expect(await limits.reload()).toContain('the previous settings stay in force');
      const line = JSON.stringify(limits.log.at(-1));
      expect(line).toContain('ratelimit.rings_per_minute must be at most');
      expect(line).toContain('limits.filters_per_user must be at least 1');
      await limits.configure(SERVER + upstream);
      expect(await limits.reload()).toContain('was reloaded');
      await limits.dispose();
    },
  );

  test.each([
    ['[limits]\npushers_per_user = 0', 'limits.pushers_per_user must be at least 1'],
    ['[limits]\npusher_per_user = 5', 'limits.pusher_per_user is not a known key'],
    ['[ratelimits]\nenabled = false', '[ratelimits] is not a known section'],
  ])('with %p stops the start with a message that names the setting', async (toml, problem) => {
    const limits = await LimitsProcess.prepare(toml);
    const start = limits.launch();
    await expect(start).rejects.toThrow(problem);
    await limits.dispose();
  });
});

describe('the operator', () => {
  test('sees and resets a key and sees the counts of a user, and no other caller does', async () => {
    const token = 'operator-token-0123';
    const limits = await LimitsProcess.start(`${SERVER}[operator]\nlisten = "127.0.0.1:0"\ntoken = "${token}"\n`);
    const body = { type: 'm.login.password', user: 'locked', password: 'x' };
    const attempt = async () =>
      (await call(limits.url, 'POST', '/_matrix/client/v3/login', { body, from: freshAddress() })).status;
    for (let i = 0; i < 5; i++) await attempt();
    expect(await attempt()).toBe(429);
    const ask = (method: string, target: string) => call(limits.operatorUrl, method, target, { token });
    const key = '/rates/login_account?key=user%3Alocked';
    expect((await ask('GET', key)).body).toMatchObject({ counted: 5, limit: 5 });
    expect((await ask('DELETE', key)).body).toMatchObject({ forgiven: true });
    expect(await attempt()).toBe(403);
    const user = await MatrixUser.register(limits.url);
    await user.call('POST', user.path('filter'), {});
    const held = await ask('GET', `/held?holder=${encodeURIComponent(user.userId)}`);
    expect(held.body.caps.filters).toEqual({ held: 1, limit: 1000 });
    expect((await call(limits.operatorUrl, 'GET', '/rules')).status).toBe(401);
    expect((await call(limits.operatorUrl, 'GET', '/rules', { token, headers: { Origin: 'http://x' } })).status).toBe(
      403,
    );
    expect((await call(limits.url, 'GET', '/rules', { token })).status).toBe(404);
    const metrics = (await call(limits.operatorUrl, 'GET', '/metrics', { token })).bytes.toString();
    expect(metrics).toContain('limits_decisions_total{rule="login_account",outcome="refused"} 1');
    await limits.dispose();
  });
});
