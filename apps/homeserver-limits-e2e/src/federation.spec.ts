import { type JsonObject, signXMatrix } from '@headgate/matrix-protocol';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';
import { idOf, Peer, type Transaction } from './testing/peer.js';

const SERVER = '[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n';
const path = (txn: string) => `/_matrix/federation/v1/send/${txn}`;

describe('PUT /_matrix/federation/v1/send (embedded)', () => {
  let peer: Peer;
  let limits: LimitsProcess;
  beforeAll(async () => {
    peer = await Peer.listen();
    limits = await LimitsProcess.start(SERVER + peer.toml);
  });
  afterAll(async () => {
    await limits.dispose();
    await peer.close();
  });

  const send = (transaction: Transaction) => peer.send(limits.url, transaction);

  test('accepts a signed transaction and returns the same response to its repetition', async () => {
    const pdus = Array.from({ length: 50 }, (_, n) => ({ n }));
    const first = await send({ uri: path('t%2D1'), pdus, edus: Array(101).fill({}) });
    expect(first.status).toBe(200);
    expect(Object.keys(first.body.pdus).sort()).toEqual([...new Set(pdus.map(idOf))].sort());
    expect((await send({ uri: path('t%2D1') })).body).toEqual(first.body);
  });

  test('verifies the target as sent, not as decoded', async () => {
    const reply = await send({ uri: path('t%2D2'), signedUri: path('t-2') });
    expect([reply.status, reply.body.errcode]).toEqual([401, 'M_UNAUTHORIZED']);
  });

  test.each([
    ['with another destination', { destination: 'c.example' }],
    ['with another origin in its body', { bodyOrigin: 'c.example' }],
    ['of a server whose name is a private address', { origin: '127.0.0.1:1' }],
    ['of a server whose name has only private addresses', { origin: 'localhost:1' }],
  ])('refuses a transaction %s', async (_what, odd) => {
    expect((await send({ uri: path('odd'), ...odd })).status).toBe(401);
  });

  test('refuses a transaction without a signature', async () => {
    const body = { origin: 'a.example', pdus: [] };
    expect((await call(limits.url, 'PUT', path('bare'), { body })).status).toBe(401);
  });

  test('does not parse the body of a server without a known key', async () => {
    const body = '{"origin":"a.example","pdus":[],"n":1.0}';
    expect((await call(limits.url, 'PUT', path('unparsed'), { body })).status).toBe(401);
  });

  test('refuses numbers that canonical JSON excludes', async () => {
    const body = '{"origin":"a.example","pdus":[],"n":1.0}';
    const headers = { Authorization: peer.authorization(path('float'), JSON.parse(body)) };
    expect((await call(limits.url, 'PUT', path('float'), { body, headers })).body.errcode).toBe('M_BAD_JSON');
  });

  test.each([
    ['51 PDUs', { uri: path('many'), pdus: Array(51).fill({}) }],
    ['an ID of 256 bytes', { uri: path('a'.repeat(256)) }],
    ['an ID of 256 bytes in 128 characters', { uri: path('%C3%A9'.repeat(128)) }],
  ])('refuses %s with M_BAD_JSON', async (_what, sent) => {
    const before = limits.log.length;
    const reply = await send(sent);
    expect([reply.status, reply.body.errcode]).toEqual([400, 'M_BAD_JSON']);
    await limits.logged(({ msg }) => msg === 'a federation transaction was refused', before);
  });

  test('accepts an ID of 255 bytes', async () => {
    expect((await send({ uri: path('a'.repeat(255)) })).status).toBe(200);
  });

  test('fetches the keys of a peer once while they are valid', async () => {
    await send({ uri: path('again') });
    const before = peer.keyFetches;
    for (let i = 0; i < 5; i++) await send({ uri: path(`again${i}`) });
    expect(peer.keyFetches).toBe(before);
  });

  describe('accepts into rooms of this server', () => {
    const PIA = '@pia:a.example';
    let user: MatrixUser;
    let room: string;
    let last = 0;
    beforeEach(async () => {
      user = await MatrixUser.register(limits.url);
      room = await user.createRoom({ invite: [PIA] });
    });

    const put = async (...pdus: unknown[]) => (await send({ uri: path(`events${++last}`), pdus })).body.pdus;
    const message = (body: string, event: JsonObject = {}) => peer.event(room, { content: { body }, ...event });
    const seen = (event: JsonObject) =>
      user.call('GET', `/_matrix/client/v3/rooms/${room}/event/${encodeURIComponent(idOf(event))}`);
    const state = async (type: string, content: object) =>
      expect((await user.call('PUT', `/_matrix/client/v3/rooms/${room}/state/${type}/`, content)).status).toBe(200);

    test('the join of an invited user and their messages, which local users receive', async () => {
      const { next_batch } = (await user.call('GET', '/_matrix/client/v3/sync')).body;
      const events = [peer.join(room), message('hello')];
      expect(await put(...events)).toEqual(Object.fromEntries(events.map((event) => [idOf(event), {}])));
      const { body } = await user.call('GET', `/_matrix/client/v3/sync?since=${next_batch}`);
      const { timeline } = body.rooms.join[room];
      expect(timeline.events.map(({ event_id }: { event_id: string }) => event_id)).toEqual(events.map(idOf));
      expect(timeline.events[1]).toMatchObject({
        type: 'm.room.message',
        sender: PIA,
        content: { body: 'hello' },
        origin_server_ts: events[1]?.origin_server_ts,
      });
      const members = (await user.call('GET', `/_matrix/client/v3/rooms/${room}/joined_members`)).body.joined;
      expect(Object.keys(members).sort()).toEqual([PIA, user.userId].sort());
    });

    test('an event once, even when it is repeated in other transactions', async () => {
      const event = message('once');
      await put(peer.join(room));
      const { next_batch } = (await user.call('GET', '/_matrix/client/v3/sync')).body;
      const uri = path('same');
      const replies = await Promise.all(Array.from({ length: 10 }, () => send({ uri, pdus: [event, event] })));
      for (const { body } of replies) expect(body).toEqual({ pdus: { [idOf(event)]: {} } });
      expect(await put(event)).toEqual({ [idOf(event)]: {} });
      const { body } = await user.call('GET', `/_matrix/client/v3/sync?since=${next_batch}`);
      expect(body.rooms.join[room].timeline.events).toHaveLength(1);
    });

    test('the valid events of a transaction with invalid ones', async () => {
      const [good, bad] = [message('good'), { ...message('bad'), type: undefined }];
      const results = await put(peer.join(room), 'no event', bad, good);
      expect(results[idOf(good)]).toEqual({});
      expect(results[idOf(bad)].error).toContain('type');
      expect(Object.keys(results)).toHaveLength(3);
      expect((await seen(good)).status).toBe(200);
      expect((await seen(bad)).status).toBe(404);
    });

    test('an event with modified content, without that content', async () => {
      const forged = { ...message('said'), content: { body: 'never said' } };
      expect(await put(peer.join(room), forged)).toMatchObject({ [idOf(forged)]: {} });
      expect((await seen(forged)).body.content).toEqual({});
    });

    test('state that the member has the power level to set, and no other', async () => {
      const topic = peer.event(room, { type: 'm.room.topic', state_key: '', content: { topic: 'theirs' } });
      const results = await put(peer.join(room), topic);
      expect(results[idOf(topic)].error).toContain('power level');
      await state('m.room.power_levels', { users: { [user.userId]: 100, [PIA]: 50 } });
      expect(await put(topic)).toEqual({ [idOf(topic)]: {} });
      const { body } = await user.call('GET', `/_matrix/client/v3/rooms/${room}/state/m.room.topic`);
      expect(body).toEqual({ topic: 'theirs' });
      const powers = { users: { [user.userId]: 100, [PIA]: 100 } };
      const grab = peer.event(room, { type: 'm.room.power_levels', state_key: '', content: powers });
      expect((await put(grab))[idOf(grab)].error).toContain('too low');
    });

    test('events signed by an old key before it expired, and no later ones', async () => {
      await put(peer.join(room));
      const at = (origin_server_ts: number) =>
        peer.event(room, { content: { body: 'old' }, origin_server_ts }, peer.oldKey);
      const [before, after] = [at(peer.oldKeyExpired), at(peer.oldKeyExpired + 1)];
      const results = await put(before, after);
      expect(results[idOf(before)]).toEqual({});
      expect(results[idOf(after)].error).toContain('signature');
    });

    test.each<[string, () => JsonObject, string]>([
      ['of a user who is not in the room', () => message('x', { sender: '@stranger:a.example' }), 'not a member'],
      ['of a user of a third server', () => message('x', { sender: '@c:c.example' }), 'another server'],
      ['of a user of this server', () => message('x', { sender: user.userId }), 'another server'],
      ['for an unknown room', () => peer.event('!nowhere:b.example', {}), 'no such room'],
      ['without a signature', () => ({ ...message('x'), signatures: {} }), 'signature'],
      ['with a modified signed member', () => ({ ...message('x'), depth: 8 }), 'signature'],
      ['from after the validity of its key', () => message('x', { origin_server_ts: Date.now() + 1e9 }), 'signature'],
      ['that is too large', () => message('x'.repeat(65_536)), '65536 bytes'],
      [
        'that creates the room again',
        () => peer.event(room, { type: 'm.room.create', state_key: '' }),
        'already exists',
      ],
      ['that redacts', () => peer.event(room, { type: 'm.room.redaction', content: { redacts: '$x' } }), 'Redactions'],
      ['that joins a user without an invite', () => peer.join(room, '@stranger:a.example'), 'not invited'],
    ])('no event %s', async (_what, event, reason) => {
      await put(peer.join(room));
      const refused = event();
      expect((await put(refused))[idOf(refused)].error).toContain(reason);
      expect((await seen(refused)).status).toBe(404);
    });

    test('nothing of a server that the room denies, or of a banned user', async () => {
      await put(peer.join(room));
      await state('m.room.server_acl', { allow: ['*'], deny: ['*.example'] });
      const event = message('x');
      expect((await put(event))[idOf(event)].error).toContain('does not admit this server');
      await state('m.room.server_acl', { allow: ['*'] });
      await user.call('PUT', `/_matrix/client/v3/rooms/${room}/state/m.room.member/${PIA}`, { membership: 'ban' });
      expect((await put(event))[idOf(event)].error).toContain('not a member');
    });

    test('no other server into a room that is not federated', async () => {
      room = await user.createRoom({ creation_content: { 'm.federate': false }, invite: [PIA] });
      const join = peer.join(room);
      expect((await put(join))[idOf(join)].error).toContain('its own server');
    });
  });

  test('returns one-time keys to a signed claim of a peer', async () => {
    const user = await MatrixUser.register(limits.url);
    await user.call('POST', '/_matrix/client/v3/keys/upload', {
      one_time_keys: { 'signed_curve25519:a': { key: 'A' } },
    });
    const uri = '/_matrix/federation/v1/user/keys/claim';
    const content = { one_time_keys: { [user.userId]: { [user.deviceId]: 'signed_curve25519' } } };
    const Authorization = signXMatrix(
      { method: 'POST', uri, origin: 'a.example', destination: 'b.example', content },
      peer.key,
    );
    const claim = () => call(limits.url, 'POST', uri, { body: content, headers: { Authorization } });
    expect((await claim()).body.one_time_keys[user.userId][user.deviceId]).toEqual({
      'signed_curve25519:a': { key: 'A' },
    });
    expect((await claim()).body.one_time_keys).toEqual({});
  });

  test('confirms users to third parties, and responds with 401 without a token', async () => {
    const user = await MatrixUser.register(limits.url);
    const { access_token } = (await user.call('POST', user.path('openid/request_token'), {})).body;
    const ask = (query: string) => call(limits.url, 'GET', `/_matrix/federation/v1/openid/userinfo${query}`);
    expect((await ask(`?access_token=${access_token}`)).body).toEqual({ sub: user.userId });
    expect((await ask('')).body.errcode).toBe('M_MISSING_TOKEN');
    expect((await ask('?access_token=x')).body.errcode).toBe('M_UNKNOWN_TOKEN');
  });
});
