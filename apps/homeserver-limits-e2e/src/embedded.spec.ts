import { verifySignedJson } from '@headgate/matrix-protocol';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';

const CLIENT = '/_matrix/client/v3';
const ROOM = '!r:b.example';
const DEEP = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

describe('the embedded homeserver', () => {
  let limits: LimitsProcess;
  let user: MatrixUser;
  let other: MatrixUser;
  beforeAll(async () => {
    limits = await LimitsProcess.start(
      '[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n[limits]\naccount_data_per_user = 3\n',
    );
  });
  afterAll(() => limits.dispose());
  beforeEach(async () => {
    user = await MatrixUser.register(limits.url);
    other = await MatrixUser.register(limits.url);
  });

  describe('account data', () => {
    const global = (type: string) => user.path(`account_data/${type}`);
    const inRoom = (type: string) => user.path(`rooms/${ROOM}/account_data/${type}`);

    test.each([
      ['global', global],
      ['room', inRoom],
    ])('of %s scope is deleted by writing {}, and frees its slot', async (_scope, path) => {
      for (const type of ['a', 'b', 'c']) await user.call('PUT', path(type), { a: 1 });
      expect((await user.call('PUT', path('d'), { a: 1 })).body.errcode).toBe('M_LIMIT_EXCEEDED');
      expect((await user.call('PUT', path('a'), {})).body).toEqual({});
      const gone = await user.call('GET', path('a'));
      expect([gone.status, gone.body.errcode]).toEqual([404, 'M_NOT_FOUND']);
      expect((await user.call('PUT', path('d'), { a: 1 })).status).toBe(200);
      expect((await user.call('PUT', path('e'), { a: 1 })).body.errcode).toBe('M_LIMIT_EXCEEDED');
    });

    test('that does not exist can be deleted either way, even at the cap', async () => {
      for (const type of ['a', 'b', 'c']) await user.call('PUT', global(type), { a: 1 });
      expect((await user.call('PUT', global('nothing'), {})).status).toBe(200);
      const unstable = inRoom('nothing').replace('/v3/', '/unstable/org.matrix.msc3391/');
      expect((await user.call('DELETE', unstable)).body).toEqual({});
      expect((await user.call('GET', global('nothing'))).status).toBe(404);
    });

    test('disappears from the next sync', async () => {
      const types = async () =>
        (await user.call('GET', `${CLIENT}/sync`)).body.account_data.events.map(({ type }: { type: string }) => type);
      await user.call('PUT', global('a'), { a: 1 });
      expect(await types()).toEqual(['a']);
      await user.call('PUT', global('a'), {});
      expect(await types()).toEqual([]);
    });
  });

  test('shows the tags of a room as its account data', async () => {
    const room = await user.createRoom();
    await user.call('PUT', user.path(`rooms/${room}/tags/m.favourite`), { order: 0.25 });
    const { events } = (await user.call('GET', `${CLIENT}/sync`)).body.rooms.join[room].account_data;
    expect(events).toEqual([{ type: 'm.tag', content: { tags: { 'm.favourite': { order: 0.25 } } } }]);
  });

  describe('logging in', () => {
    const password = MatrixUser.password;
    const login = (body: object) =>
      call(limits.url, 'POST', `${CLIENT}/login`, {
        body: { type: 'm.login.password', password, ...body },
        from: freshAddress(),
      });

    test('accepts the account in every format', async () => {
      for (const name of [user.name, user.userId, user.name.toUpperCase()]) {
        expect((await login({ identifier: { type: 'm.id.user', user: name } })).body.user_id).toBe(user.userId);
        expect((await login({ user: name })).body.user_id).toBe(user.userId);
      }
    });

    test.each([
      ['an email address', { identifier: { type: 'm.id.thirdparty', medium: 'email', address: 'a@b.example' } }],
      ['an email address in the old format', { medium: 'email', address: 'a@b.example' }],
      ['a phone number', { identifier: { type: 'm.id.phone', country: 'GB', phone: '1' } }],
      ['an unknown type of identifier', { identifier: { type: 'x.unknown' } }],
      ['a user of another server', { identifier: { type: 'm.id.user', user: '@a:c.example' } }],
    ])('finds no user by %s', async (_what, body) => {
      const reply = await login(body);
      expect([reply.status, reply.body.errcode]).toEqual([403, 'M_FORBIDDEN']);
    });

    test('cannot bypass the count of an account by naming a second one', async () => {
      const guess = (i: number) =>
        login({ identifier: { type: 'm.id.thirdparty', medium: 'email', address: `${i}@b.example` }, user: user.name });
      for (let i = 0; i < 10; i++) expect((await guess(i)).body.errcode).toBe('M_BAD_JSON');
    });

    test('with a known device revokes its previous token, and keeps its events', async () => {
      const room = await user.createRoom();
      const target = `${CLIENT}/rooms/${room}/send/m.x/1`;
      const { event_id } = (await user.call('PUT', target, {})).body;
      const { access_token: token } = (await login({ user: user.name, device_id: user.deviceId })).body;
      expect((await user.call('GET', `${CLIENT}/account/whoami`)).body.errcode).toBe('M_UNKNOWN_TOKEN');
      expect((await call(limits.url, 'PUT', target, { token, body: {} })).body.event_id).toBe(event_id);
      const second = (await login({ user: user.name })).body.access_token;
      expect((await call(limits.url, 'PUT', target, { token: second, body: {} })).body.event_id).not.toBe(event_id);
      await call(limits.url, 'POST', `${CLIENT}/logout/all`, { token });
      expect((await call(limits.url, 'GET', `${CLIENT}/account/whoami`, { token: second })).status).toBe(401);
    });
  });

  describe('keys', () => {
    const claim = (algorithm: unknown = 'signed_curve25519') =>
      other.call('POST', `${CLIENT}/keys/claim`, { one_time_keys: { [user.userId]: { [user.deviceId]: algorithm } } });

    test('are claimed once each by parallel requests, followed by the fallback key', async () => {
      const names = Array.from({ length: 40 }, (_, i) => `signed_curve25519:${i}`);
      await user.call('POST', `${CLIENT}/keys/upload`, {
        one_time_keys: Object.fromEntries(names.map((name) => [name, { key: name }])),
        fallback_keys: { 'signed_curve25519:f': { key: 'f', fallback: true } },
      });
      const replies = await Promise.all(Array.from({ length: 60 }, () => claim()));
      const given = replies.map(({ body }) => Object.keys(body.one_time_keys[user.userId][user.deviceId])[0]);
      expect(given.filter((name) => name === 'signed_curve25519:f')).toHaveLength(20);
      expect(new Set(given)).toEqual(new Set([...names, 'signed_curve25519:f']));
    });

    test('of devices come with their names, and other servers are reported as unreachable', async () => {
      const device_keys = { user_id: user.userId, device_id: user.deviceId, algorithms: [], keys: {}, signatures: {} };
      await user.call('POST', `${CLIENT}/keys/upload`, { device_keys });
      const query = (asked: object) => other.call('POST', `${CLIENT}/keys/query`, { device_keys: asked });
      const found = (await query({ [user.userId]: [], '@x:c.example': [] })).body;
      expect(found).toEqual({
        device_keys: { [user.userId]: { [user.deviceId]: device_keys } },
        failures: { 'c.example': {} },
      });
      expect((await query({ [user.userId]: ['OTHER'] })).body.device_keys).toEqual({ [user.userId]: {} });
    });

    test('are not claimed in part when the claim is malformed', async () => {
      await user.call('POST', `${CLIENT}/keys/upload`, { one_time_keys: { 'a:1': 'k' } });
      const devices = { [user.deviceId]: 'a', OTHER: 5 };
      const reply = await other.call('POST', `${CLIENT}/keys/claim`, { one_time_keys: { [user.userId]: devices } });
      expect(reply.body.errcode).toBe('M_BAD_JSON');
      expect((await claim('a')).body.one_time_keys[user.userId][user.deviceId]).toEqual({ 'a:1': 'k' });
    });
  });

  test('moves a pusher to the last user who sets it, unless they append', async () => {
    const pusher = {
      pushkey: 'k',
      app_id: 'app',
      kind: 'http',
      app_display_name: 'A',
      device_display_name: 'D',
      lang: 'en',
      data: { url: 'https://push.example/_matrix/push/v1/notify' },
    };
    const set = (who: MatrixUser, extra = {}) => who.call('POST', `${CLIENT}/pushers/set`, { ...pusher, ...extra });
    const count = async (who: MatrixUser) => (await who.call('GET', `${CLIENT}/pushers`)).body.pushers.length;
    await set(user);
    await set(other, { append: true });
    expect([await count(user), await count(other)]).toEqual([1, 1]);
    await set(other);
    expect([await count(user), await count(other)]).toEqual([0, 1]);
    await other.call('POST', `${CLIENT}/logout`);
    expect((await set(user)).status).toBe(200);
  });

  test('creates a room with the state of its preset, and the same power level for invited users of a trusted chat', async () => {
    const room = await user.createRoom({ preset: 'trusted_private_chat', is_direct: true, invite: [other.userId] });
    const state = async (type: string) => (await user.call('GET', `${CLIENT}/rooms/${room}/state/${type}`)).body;
    expect(await state('m.room.join_rules')).toEqual({ join_rule: 'invite' });
    expect(await state('m.room.history_visibility')).toEqual({ history_visibility: 'shared' });
    expect((await state('m.room.power_levels')).users).toEqual({ [user.userId]: 100, [other.userId]: 100 });
    expect(await state(`m.room.member/${other.userId}`)).toEqual({ membership: 'invite', is_direct: true });
    expect((await other.call('POST', `${CLIENT}/rooms/${room}/join`)).status).toBe(200);
  });

  test('returns media with its type and its name', async () => {
    const target = '/_matrix/media/v3/upload?filename=gr%C3%BCn.txt';
    const { content_uri } = (await user.call('POST', target, Buffer.from('x'), { 'Content-Type': 'text/plain' })).body;
    const download = `/_matrix/client/v1/media/download/${content_uri.slice('mxc://'.length)}`;
    const { headers } = await other.call('GET', download);
    expect(headers['content-type']).toBe('text/plain');
    expect(headers['content-disposition']).toBe("attachment; filename*=UTF-8''gr%C3%BCn.txt");
    expect((await call(limits.url, 'GET', download)).body.errcode).toBe('M_MISSING_TOKEN');
  });

  test('publishes its key in a document signed by it', async () => {
    const { headers, body } = await call(limits.url, 'GET', '/_matrix/key/v2/server');
    expect(headers['content-type']).toBe('application/json');
    const [[id, { key }]] = Object.entries<{ key: string }>(body.verify_keys) as [[string, { key: string }]];
    expect(verifySignedJson(body, 'b.example', id, key)).toBe(true);
    expect(body).toMatchObject({ server_name: 'b.example', old_verify_keys: {} });
    expect(body.valid_until_ts - Date.now()).toBeGreaterThan(3_600_000);
  });

  describe('an invalid request', () => {
    const PUSHER = { pushkey: 'k', app_id: 'a', app_display_name: 'A', device_display_name: 'D', lang: 'en', data: {} };
    type Attempt = readonly [method: string, target: string, body: object | string, errcode: string];
    const to =
      (method: string, target: string) =>
      (body: object | string, errcode = 'M_BAD_JSON'): Attempt => [method, target, body, errcode];
    const rooms = to('POST', `${CLIENT}/createRoom`);
    const keys = to('POST', `${CLIENT}/keys/upload`);
    const pusher = to('POST', `${CLIENT}/pushers/set`);
    const send = to('PUT', `${CLIENT}/rooms/ROOM/send/m.x/1`);
    const later = to('PUT', `${CLIENT}/rooms/ROOM/send/m.x/2?org.matrix.msc4140.delay=9000`);
    const state = (type: string, body: object, errcode: string) =>
      to('PUT', `${CLIENT}/rooms/ROOM/state/${type}`)(body, errcode);
    const data = to('PUT', `${CLIENT}/user/ME/account_data/t`);
    const tag = to('PUT', `${CLIENT}/user/ME/rooms/ROOM/tags/t`);
    const filter = to('POST', `${CLIENT}/user/ME/filter`);

    const attempts: Attempt[] = [
      send('{"a":1.5}'),
      send('{"a":1e3}'),
      send('{"a":-0}'),
      send('{"a":9007199254740993}'),
      send('{"a":"\\ud800"}'),
      send('{"\\udfff":1}'),
      send(DEEP),
      send('[]'),
      send({ a: 'x'.repeat(65_500) }, 'M_TOO_LARGE'),
      ['PUT', `${CLIENT}/rooms/ROOM/send/${'t'.repeat(256)}/1`, {}, 'M_TOO_LARGE'],
      ['PUT', `${CLIENT}/rooms/ROOM/send/m.room.member/1`, { membership: 'join' }, 'M_BAD_JSON'],
      later('{"a":1.5}'),
      later(DEEP),
      later({ a: 'x'.repeat(70_000) }, 'M_TOO_LARGE'),
      ['PUT', `${CLIENT}/rooms/ROOM/delayed_event/m.x/5`, '{"delay_ms":9000,"content":{"a":1.5}}', 'M_BAD_JSON'],
      state('m.room.create/', {}, 'M_FORBIDDEN'),
      state('m.room.power_levels/', { users: 'x' }, 'M_BAD_JSON'),
      state('m.room.power_levels/', { ban: '50' }, 'M_BAD_JSON'),
      state('m.room.member/ME', { membership: 'asleep' }, 'M_BAD_JSON'),
      state('m.x/@other:b.example', {}, 'M_FORBIDDEN'),
      data('{"n":1e400}'),
      data('{"n":12345678901234567890}'),
      data('{"n":"\\ud800"}'),
      data(DEEP),
      tag({ order: '0.5' }),
      tag({ order: 2 }),
      filter({ room: { timeline: { limit: 0 } } }),
      filter({ event_format: 'xml' }),
      filter(DEEP),
      keys({ one_time_keys: { 'a:b': 5 } }),
      keys({ one_time_keys: { 'a:b': null } }),
      keys({ one_time_keys: { nameless: 'k' } }),
      keys('{"one_time_keys":{"a:b":{"key":"k","n":1.5}}}'),
      keys({ fallback_keys: { 'a:1': 'k', 'a:2': 'k' } }),
      keys({ device_keys: {} }, 'M_INVALID_PARAM'),
      keys(`{"one_time_keys":{"a:b":${DEEP}}}`),
      ['POST', `${CLIENT}/keys/claim`, { one_time_keys: { nora: {} } }, 'M_BAD_JSON'],
      ['POST', `${CLIENT}/keys/query`, { device_keys: { nora: [] } }, 'M_BAD_JSON'],
      pusher({ ...PUSHER, kind: 'pigeon' }, 'M_INVALID_PARAM'),
      pusher({ ...PUSHER, kind: 'http' }, 'M_MISSING_PARAM'),
      pusher({ ...PUSHER, kind: 5 }, 'M_INVALID_PARAM'),
      pusher(PUSHER, 'M_MISSING_PARAM'),
      rooms({ preset: 'public' }),
      rooms({ visibility: 'hidden' }),
      rooms({ name: 5 }),
      rooms({ invite: 'x' }),
      rooms({ invite: ['x'] }),
      rooms({ is_direct: 'yes' }),
      rooms({ creation_content: 'x' }),
      rooms({ power_level_content_override: [] }),
      rooms({ power_level_content_override: { users: 'x' } }),
      rooms({ power_level_content_override: { users: { '@x:b.example': 100 } } }, 'M_INVALID_ROOM_STATE'),
      rooms({ initial_state: [{ type: 'm.x', state_key: 5, content: {} }] }),
      rooms({ initial_state: [{ type: 'm.room.create', content: {} }] }, 'M_INVALID_ROOM_STATE'),
      rooms('{"initial_state":[{"type":"m.x","content":{"a":0.5}}]}'),
      rooms({ room_alias_name: 5 }),
      rooms({ room_alias_name: 'a:b' }, 'M_INVALID_PARAM'),
      rooms({ room_version: '1' }, 'M_UNSUPPORTED_ROOM_VERSION'),
      rooms({ invite_3pid: [{}] }, 'M_INVALID_PARAM'),
      rooms(`{"creation_content":${DEEP}}`),
    ];

    const title = ([method, target, body, errcode]: Attempt) =>
      [method, target, typeof body === 'string' ? body : JSON.stringify(body)].join(' ').slice(0, 120) +
      ` as ${errcode}`;
    test.each(attempts.map((attempt) => [title(attempt), ...attempt] as const))(
      'is refused: %s',
      async (...attempt) => {
        const [, method, target, body, errcode] = attempt;
        const room = await user.createRoom();
        // In one pass: the ID of a room may contain the other word.
        const path = target.replace(/ROOM|ME/g, (word) => (word === 'ROOM' ? room : encodeURIComponent(user.userId)));
        const reply = await user.call(method, path, body);
        expect(reply.body.errcode).toBe(errcode);
        expect(reply.status).toBe(errcode === 'M_TOO_LARGE' ? 413 : errcode === 'M_FORBIDDEN' ? 403 : 400);
      },
    );

    test('never causes a server error', () => {
      expect(limits.log.filter(({ msg }) => msg === 'a request failed')).toEqual([]);
    });
  });
});

test('an embedded homeserver with registration tokens registers no one without a token, and counts the attempts', async () => {
  const limits = await LimitsProcess.start(
    '[server]\nname = "b.example"\nregistration_tokens = ["open-sesame"]\n[ratelimit]\nenabled = true\n',
  );
  const register = (auth?: object) =>
    call(limits.url, 'POST', `${CLIENT}/register`, { body: { username: 'nora', password: 'pw', auth } });
  const asked = await register();
  expect(asked.body.flows).toEqual([{ stages: ['m.login.registration_token'] }]);
  const { session } = asked.body;
  const attempts = ['wrong', 'worse', 'worst'].map((token) => ({ type: 'm.login.registration_token', token, session }));
  for (const auth of [...attempts, { type: 'm.login.dummy' }]) expect((await register(auth)).status).toBe(401);
  const done = await register({ type: 'm.login.registration_token', token: 'open-sesame', session });
  expect(done.body.user_id).toBe('@nora:b.example');
  expect((await register({ type: 'm.login.registration_token', token: 'wrong' })).status).toBe(429);
  await limits.dispose();
});
