import { LimitsProcess } from './testing/limits-process.js';
import { call, type Reply } from './testing/http-client.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';
import { onHomeservers, type RunningHomeserver } from './testing/homeservers.js';

const MIB = 1024 * 1024;
const CLIENT = '/_matrix/client/v3';
/** On a busy machine, a hundred requests at once take longer than the gateway waits by default. */
const PATIENT = 'timeout_ms = 200000\n';

onHomeservers('the bounds of the contract, at their defaults, in front of', (homeserver) => {
  const { name, loginVersions, registerVersions } = homeserver;
  let upstream: RunningHomeserver;
  let limits: LimitsProcess;
  let user: MatrixUser;
  beforeAll(async () => {
    upstream = await homeserver.start();
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${upstream.url}"\n${PATIENT}`,
    );
    user = await MatrixUser.register(limits.url);
  });
  afterAll(async () => {
    await limits?.dispose();
    await upstream?.dispose();
  });

  const statuses = (replies: readonly Reply[]) => {
    const counts: Record<number, number> = {};
    for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  const all = (count: number, send: (i: number) => Promise<Reply>) =>
    Promise.all(Array.from({ length: count }, (_, i) => send(i)));
  const logIn = (account: string, password: string, from: string, version = 'v3') =>
    call(limits.url, 'POST', `/_matrix/client/${version}/login`, {
      body: { type: 'm.login.password', identifier: { type: 'm.id.user', user: account }, password },
      from,
    });

  test('5 failed logins a minute of an account, over every version of the API, and the right password is not checked after them', async () => {
    const victim = await MatrixUser.register(limits.url);
    for (let i = 0; i < 5; i++) {
      const version = loginVersions[i % loginVersions.length];
      expect((await logIn(victim.name, 'wrong', freshAddress(), version)).status).toBe(403);
    }
    for (const version of loginVersions) {
      const refused = await logIn(victim.name, MatrixUser.password, freshAddress(), version);
      expect([refused.status, refused.body.errcode]).toEqual([429, 'M_LIMIT_EXCEEDED']);
      expect(refused.body.retry_after_ms).toBeGreaterThan(0);
    }
  });

  test(`5 of 50 parallel wrong passwords reach ${name}`, async () => {
    const victim = await MatrixUser.register(limits.url);
    expect(statuses(await all(50, () => logIn(victim.name, 'wrong', freshAddress())))).toEqual({ 403: 5, 429: 45 });
  });

  test('passwords of another account in the auth of a request, which count as its failed logins', async () => {
    const victim = await MatrixUser.register(limits.url);
    const guess = (method: string, path: string, password: string) =>
      user.call(method, `${CLIENT}/${path}`, {
        devices: ['NONE'],
        new_password: 'x',
        auth: { type: 'm.login.password', identifier: { type: 'm.id.user', user: victim.name }, password },
      });
    const device = `devices/${user.deviceId}`;
    expect((await guess('POST', 'delete_devices', 'wrong')).status).toBe(401);
    expect((await guess('POST', 'account/password', 'wrong')).status).toBe(homeserver.wrongAuthOfPassword);
    expect((await guess('POST', 'account/deactivate', 'wrong')).status).toBe(401);
    expect((await guess('DELETE', device, 'wrong')).status).toBe(401);
    expect((await guess('DELETE', device, MatrixUser.password)).status).toBe(403);
    expect((await guess('DELETE', device, MatrixUser.password)).status).toBe(429);
    expect((await logIn(victim.name, MatrixUser.password, freshAddress())).status).toBe(429);
  });

  test('no guess in a body that servers read differently', async () => {
    const victim = await MatrixUser.register(limits.url);
    const identifier = `{"type":"m.id.user","user":"${victim.name}"}`;
    const login = (members: string) => `{"type":"m.login.password",${members},"password":"${MatrixUser.password}"}`;
    const bodies = [
      // Of two members, Go keeps the first one when the second one is null, and merges two objects.
      login(`"identifier":${identifier},"identifier":null`),
      login(`"identifier":${identifier},"identifier":{"type":"m.id.user"}`),
      // It ignores the case of names, in all scripts.
      login(`"u\u017fer":"${victim.name}"`),
    ];
    for (const body of bodies) {
      const send = (base: string) => call(base, 'POST', `${CLIENT}/login`, { body, from: freshAddress() });
      expect((await send(upstream.url)).status).toBe(homeserver.readsLikeGo ? 200 : 400);
      const refused = await send(limits.url);
      expect([refused.status, refused.body.errcode]).toEqual([400, 'M_BAD_JSON']);
    }
    // Dendrite verifies the first of two.
    const two = `{"devices":["NONE"],"auth":${login(`"identifier":${identifier}`)},"auth":{}}`;
    expect((await user.call('POST', `${CLIENT}/delete_devices`, two)).body.errcode).toBe('M_BAD_JSON');
  });

  test('30 failed logins a minute of an address', async () => {
    const from = freshAddress();
    expect(statuses(await all(40, (i) => logIn(`absent${i}`, 'wrong', from)))).toEqual({ 403: 30, 429: 10 });
  });

  test('a successful login clears both histories', async () => {
    const from = freshAddress();
    const own = await MatrixUser.register(limits.url);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 4; i++) expect((await logIn(own.name, 'wrong', from)).status).toBe(403);
      expect((await logIn(own.name, MatrixUser.password, from)).status).toBe(200);
    }
  });

  test('5 registrations in 5 minutes with authentication, of an address', async () => {
    const from = freshAddress();
    const register = (i: number) =>
      call(limits.url, 'POST', `/_matrix/client/${registerVersions[i % registerVersions.length]}/register`, {
        body: { username: `new${i}${Date.now()}`, password: MatrixUser.password, auth: { type: 'm.login.dummy' } },
        from,
      });
    const challenge = () => call(limits.url, 'POST', `${CLIENT}/register`, { body: { username: 'x' }, from });
    expect(statuses(await all(10, challenge))).toEqual({ 401: 10 });
    expect(statuses(await all(8, register))).toEqual({ 200: 5, 429: 3 });
  });

  test('10 rings a minute of a user, delayed or not, under either name', async () => {
    const caller = await MatrixUser.register(limits.url);
    const room = await caller.createRoom();
    const rings = ['m.rtc.notification', 'org.matrix.msc4075.rtc.notification'];
    const ring = (i: number) => {
      const delay = i % 3 === 0 ? '?org.matrix.msc4140.delay=60000' : '';
      return caller.call('PUT', `${CLIENT}/rooms/${room}/send/${rings[i % 2]}/${i}${delay}`, { sender_ts: 1 });
    };
    expect(statuses(await all(15, ring))).toEqual({ 200: 10, 429: 5 });
  });

  test('20 OpenID tokens a minute of a user', async () => {
    const own = await MatrixUser.register(limits.url);
    const replies = await all(25, () => own.call('POST', own.path('openid/request_token'), {}));
    expect(statuses(replies)).toEqual({ 200: 20, 429: 5 });
    expect(replies.find(({ status }) => status === 200)?.body).toMatchObject({ matrix_server_name: 'b.example' });
  });

  test(`20 credentials of the media service a minute of a user, whose token ${name} confirms`, async () => {
    const own = await MatrixUser.register(limits.url);
    const { body: openIdToken } = await own.call('POST', own.path('openid/request_token'), {});
    const ask = (token: object) =>
      call(limits.url, 'POST', '/_svc/rtc/media/sfu/get', {
        body: { room: '!r:b.example', openid_token: token, device_id: 'D' },
      });
    expect((await ask({ ...openIdToken, access_token: 'invented' })).status).toBe(401);
    // It has no such endpoint and responds with 404 to those that pass.
    expect(statuses(await all(25, () => ask(openIdToken)))).toEqual({ 404: 20, 429: 5 });
  });

  test(`1,000 one-time keys of a device${homeserver.mostCountedKeys === undefined ? ', until others claim them' : ''}`, async () => {
    const own = await MatrixUser.register(limits.url);
    const signatures = { [own.userId]: { [`ed25519:${own.deviceId}`]: 's' } };
    // Synapse itself limits each algorithm to 500 keys.
    const upload = (from: number, count: number, algorithm = 'signed_curve25519') => {
      const keys = Array.from({ length: count }, (_, i) => [`${algorithm}:k${from + i}`, { key: 'k', signatures }]);
      return own.call('POST', `${CLIENT}/keys/upload`, { one_time_keys: Object.fromEntries(keys) });
    };
    expect((await upload(0, 450)).status).toBe(200);
    const { one_time_key_counts: counts } = (await upload(0, 500, 'x.second')).body;
    expect(counts.signed_curve25519 + counts['x.second']).toBe(homeserver.mostCountedKeys ?? 950);
    expect(statuses(await all(10, (i) => upload(i * 10, 10, 'x.third')))).toEqual({ 200: 5, 400: 5 });
    expect((await upload(5000, 1)).body.errcode).toBe('M_LIMIT_EXCEEDED');
    const claim = { one_time_keys: { [own.userId]: { [own.deviceId]: 'signed_curve25519' } } };
    expect((await user.call('POST', `${CLIENT}/keys/claim`, claim)).status).toBe(200);
    if (homeserver.mostCountedKeys !== undefined) return;
    expect(await eventually(() => upload(6000, 1))).toBe(200);
    expect((await upload(6001, 1)).body.errcode).toBe('M_LIMIT_EXCEEDED');
  });

  test('100 pushers of a user, of which a deleted one frees its place immediately', async () => {
    const own = await MatrixUser.register(limits.url);
    const set = (i: number, kind: string | null = 'http') =>
      own.call('POST', `${CLIENT}/pushers/set`, {
        app_id: 'app',
        pushkey: `key${i}`,
        kind,
        app_display_name: 'A',
        device_display_name: 'D',
        lang: 'en',
        data: { url: 'https://push.example/_matrix/push/v1/notify' },
      });
    expect(statuses(await all(110, set))).toEqual({ 200: 100, 400: 10 });
    const { pushers } = (await own.call('GET', `${CLIENT}/pushers`)).body;
    expect(pushers).toHaveLength(100);
    const held = Number(pushers[0].pushkey.slice(3));
    expect((await set(held)).status).toBe(200);
    expect((await set(500)).body.errcode).toBe('M_LIMIT_EXCEEDED');
    expect((await set(held, null)).status).toBe(200);
    expect((await set(500)).status).toBe(200);
    expect((await set(501)).body.errcode).toBe('M_LIMIT_EXCEEDED');
  });

  test('1,000 filters of a user, of which a held one is free', async () => {
    const own = await MatrixUser.register(limits.url);
    const create = (i: number) => own.call('POST', own.path('filter'), { room: { rooms: [`!r${i}:b.example`] } });
    for (let from = 0; from < 1000; from += 50) {
      expect(statuses(await all(50, (i) => create(from + i)))).toEqual({ 200: 50 });
    }
    expect(statuses(await all(5, (i) => create(2000 + i)))).toEqual({ 400: 5 });
    expect((await create(7)).status).toBe(200);
  });

  test('100 delayed events of a user in a room, 24 hours ahead; a canceled one frees its place', async () => {
    const own = await MatrixUser.register(limits.url);
    const [room, other] = [await own.createRoom(), await own.createRoom()];
    const later = (i: number, delay = 86_400_000, where = room) =>
      own.call('PUT', `${CLIENT}/rooms/${where}/send/m.x/${i}?org.matrix.msc4140.delay=${delay}`, {});
    const tooLong = await later(201, 86_400_001, other);
    expect([tooLong.status, tooLong.body['org.matrix.msc4140.max_delay']]).toEqual([400, 86_400_000]);
    if (!homeserver.hasDelayedEvents) {
      // Two rounds, since each event in progress holds a place.
      for (const first of [0, 60]) expectAllSent(await all(60, (i) => later(first + i)));
      return;
    }
    const replies = await all(110, (i) => later(i));
    expect(statuses(replies)).toEqual({ 200: 100, 400: 10 });
    expect((await later(200, 60_000, other)).status).toBe(200);
    const { delay_id } = replies.find(({ status }) => status === 200)!.body;
    const manage = `/_matrix/client/unstable/org.matrix.msc4140/delayed_events/${delay_id}`;
    expect((await call(limits.url, 'POST', manage, { body: { action: 'cancel' } })).status).toBe(200);
    expect((await later(300)).status).toBe(200);
    expect((await later(301)).body.errcode).toBe('M_LIMIT_EXCEEDED');
  });

  test('50 MiB of an upload, on every path, whatever the homeserver itself would accept', async () => {
    const upload = (path: string, size: number) => user.call('POST', path, Buffer.alloc(size));
    expect((await upload('/_matrix/media/v3/upload', 50 * MIB)).body.content_uri).toMatch(/^mxc:/);
    for (const path of ['/_matrix/media/v3/upload', '/_matrix/media/r0/upload', '/_matrix/media/v1/upload']) {
      const refused = await upload(path, 50 * MIB + 1);
      expect([refused.status, refused.body.errcode]).toEqual([413, 'M_TOO_LARGE']);
    }
    for (const path of ['/_matrix/client/v1/media/config', '/_matrix/media/v3/config']) {
      expect((await user.call('GET', path)).body['m.upload.size']).toBe(50 * MIB);
    }
    const created = await user.call('POST', '/_matrix/media/v1/create');
    if (!homeserver.reservesMedia) return expect(created.status).toBe(404);
    const { content_uri } = created.body;
    const reserved = `/_matrix/media/v3/upload/${content_uri.slice('mxc://'.length)}`;
    expect((await user.call('PUT', reserved, Buffer.alloc(50 * MIB + 1))).status).toBe(413);
    expect((await user.call('PUT', reserved, Buffer.from('small'))).status).toBe(200);
  });

  test('50 PDUs and 255 bytes of ID of a federation transaction, before the homeserver checks its signature', async () => {
    const send = (id: string, pdus: number, edus = 0) =>
      call(limits.url, 'PUT', `/_matrix/federation/v1/send/${id}`, {
        headers: { 'Content-Type': 'application/json' },
        body: { origin: 'c.example', origin_server_ts: 1, pdus: Array(pdus).fill({}), edus: Array(edus).fill({}) },
      });
    const tooMany = await send('t1', 51);
    expect([tooMany.status, tooMany.body.errcode]).toEqual([400, 'M_BAD_JSON']);
    const tooLong = await send('t'.repeat(256), 0);
    expect([tooLong.status, tooLong.body.errcode]).toEqual([400, 'M_BAD_JSON']);
    expect((await send('t2', 50, 150)).status).toBe(401);
    expect((await send('t'.repeat(255), 0)).status).toBe(401);
  });
});

onHomeservers('account data in front of', (homeserver) => {
  let upstream: RunningHomeserver;
  let limits: LimitsProcess;
  beforeAll(async () => {
    upstream = await homeserver.start();
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${upstream.url}"\n${PATIENT}` +
        '[limits]\naccount_data_per_user = 10\n',
    );
  });
  afterAll(async () => {
    await limits?.dispose();
    await upstream?.dispose();
  });

  test('counts what a user held before the gateway, over all scopes; a type that is deleted frees its place', async () => {
    const before = await MatrixUser.register(upstream.url);
    const room = await before.createRoom();
    const put = (by: MatrixUser, type: string, scope = 'account_data', content: object = { a: 1 }) =>
      by.call('PUT', by.path(`${scope}/${type}`), content);
    const inRoom = `rooms/${encodeURIComponent(room)}/account_data`;
    for (let i = 0; i < 5; i++) expect((await put(before, `old${i}`)).status).toBe(200);
    for (let i = 0; i < 3; i++) expect((await put(before, `old${i}`, inRoom)).status).toBe(200);
    // Dendrite lists them a little later.
    await until(async () => {
      const listed = JSON.stringify((await before.call('GET', `${CLIENT}/sync`)).body);
      return [...listed.matchAll(/"old\d"/g)].length === 8;
    });
    const through = before.through(limits.url);
    expect((await put(through, 'new0')).status).toBe(200);
    expect((await put(through, 'new1', inRoom)).status).toBe(200);
    for (const scope of ['account_data', inRoom]) {
      const refused = await put(through, 'new2', scope);
      expect([refused.status, refused.body.errcode]).toEqual([400, 'M_LIMIT_EXCEEDED']);
    }
    expect((await put(through, 'old1')).status).toBe(200);
    if (!homeserver.deletesAccountData) return;
    const unstable = through.path('account_data/old1').replace('/v3/', '/unstable/org.matrix.msc3391/');
    expect((await through.call('DELETE', unstable)).status).toBe(200);
    expect((await put(through, 'new2')).status).toBe(200);
    expect((await put(through, 'new3')).status).toBe(400);
  });
});

/** Of events that a homeserver sends at once, none is pending. */
function expectAllSent(replies: readonly Reply[]): void {
  expect(replies.map(({ status, body }) => [status, typeof body.event_id])).toEqual(replies.map(() => [200, 'string']));
}

/** The status of the first reply that is not 400: a gateway caches the count behind a refusal for a second. */
async function eventually(send: () => Promise<Reply>): Promise<number> {
  let status = 400;
  await until(async () => (status = (await send()).status) !== 400);
  return status;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000;
  while (!(await holds())) if (Date.now() > end) throw new Error('it did not come to hold');
}
