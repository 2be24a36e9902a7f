import { inBothModes } from './testing/modes.js';
import { call, type Reply } from './testing/http-client.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';

const LOGIN = '/_matrix/client/v3/login';

inBothModes('the six rates', '', (system) => {
  const url = () => system().url;

  function logIn(user: string, password: string, from: string, path = LOGIN): Promise<Reply> {
    const body = { type: 'm.login.password', identifier: { type: 'm.id.user', user }, password };
    return call(url(), 'POST', path, { body, from });
  }

  function expectRateRefusal(reply: Reply): void {
    expect(reply.status).toBe(429);
    expect(reply.body.errcode).toBe('M_LIMIT_EXCEEDED');
    expect(Number.isInteger(reply.body.retry_after_ms)).toBe(true);
    expect(reply.body.retry_after_ms).toBeGreaterThanOrEqual(1);
    expect(Number(reply.headers['retry-after']) * 1000).toBeGreaterThanOrEqual(reply.body.retry_after_ms);
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    expect(reply.headers['access-control-expose-headers']).toContain('Retry-After');
  }

  async function verifications(): Promise<number> {
    const { upstream, limits } = system();
    const { bytes } = await call((upstream ?? limits).url, 'GET', '/metrics');
    return Number(/^limits_password_verifications (\d+)$/m.exec(bytes.toString('utf8'))?.[1]);
  }

  describe('POST /login', () => {
    test('refuses the sixth attempt on an account, even with the correct password', async () => {
      const user = await MatrixUser.register(url());
      for (let i = 0; i < 5; i++) expect((await logIn(user.name, 'wrong', freshAddress())).status).toBe(403);
      expectRateRefusal(await logIn(user.name, MatrixUser.password, freshAddress()));
    });

    test('verifies exactly 5 of 100 parallel wrong passwords for one account', async () => {
      const user = await MatrixUser.register(url());
      const before = await verifications();
      const replies = await Promise.all(Array.from({ length: 100 }, () => logIn(user.name, 'wrong', freshAddress())));
      expect(replies.filter(({ status }) => status === 403)).toHaveLength(5);
      expect(replies.filter(({ status }) => status === 429)).toHaveLength(95);
      expect((await verifications()) - before).toBe(5);
    });

    test('resets both keys after a success', async () => {
      const [user, other] = [await MatrixUser.register(url()), await MatrixUser.register(url())];
      const from = freshAddress();
      for (let round = 0; round < 9; round++) {
        for (let i = 0; i < 4; i++) expect((await logIn(user.name, 'wrong', from)).status).toBe(403);
        expect((await logIn(user.name, MatrixUser.password, from)).status).toBe(200);
      }
      expect((await logIn(other.name, 'wrong', from)).status).toBe(403);
    });

    test('counts every spelling and every path of a login together, also for accounts that do not exist', async () => {
      const name = `unknown${freshAddress()}`;
      const spellings = [name, name.toUpperCase(), `@${name}:b.example`, `@${name}`, name];
      const paths = [LOGIN, '/_matrix/client/r0/login', '/_matrix/client/api/v1/login', '//_matrix/client/v3/%6Cogin/'];
      for (const [i, spelling] of spellings.entries()) {
        expect((await logIn(spelling, 'wrong', freshAddress(), paths[i % paths.length])).status).toBe(403);
      }
      const body = { type: 'm.login.password', user: name, password: 'wrong' };
      expectRateRefusal(await call(url(), 'POST', LOGIN, { body, from: freshAddress() }));
    });

    test('refuses the 31st failure of a source for any account, without counting it for the account', async () => {
      const from = freshAddress();
      const victim = await MatrixUser.register(url());
      for (let i = 0; i < 30; i++) expect((await logIn(`x${i}${from}`, 'wrong', from)).status).toBe(403);
      for (let i = 0; i < 10; i++) expectRateRefusal(await logIn(victim.name, 'wrong', from));
      expect((await logIn(victim.name, MatrixUser.password, freshAddress())).status).toBe(200);
    });

    test('counts neither malformed logins nor other types', async () => {
      const from = freshAddress();
      for (let i = 0; i < 40; i++) {
        const body = i % 2 ? { type: 'm.login.token', token: 'x' } : '{"type":';
        expect((await call(url(), 'POST', LOGIN, { body, from })).status).toBe(400);
      }
      expect((await logIn(`y${from}`, 'wrong', from)).status).toBe(403);
    });

    test.each([
      ['{"type":"m.login.dummy","type":"m.login.password"}'],
      ['{"Type":"m.login.password","type":"m.login.token"}'],
      ['{"type":"m.login.password","user":"mallory","u\u017fer":"alice","password":"x"}'],
      ['[]'],
      ['"m.login.password"'],
    ])('refuses %s, which another server could read differently', async (body) => {
      expect((await call(url(), 'POST', LOGIN, { body })).body.errcode).toBe('M_BAD_JSON');
    });
  });

  describe('POST /register', () => {
    const register = (body: object, from: string) => call(url(), 'POST', '/_matrix/client/v3/register', { body, from });

    test('never counts the first request without authentication, and refuses the sixth with it', async () => {
      const from = freshAddress();
      for (let i = 0; i < 12; i++) {
        const reply = await register({ username: `r${i}`, password: 'x' }, from);
        expect(reply.status).toBe(401);
        expect(reply.body.flows).toEqual([{ stages: ['m.login.dummy'] }]);
      }
      const withAuth = { username: 'Bad Name', auth: { type: 'm.login.dummy' } };
      for (let i = 0; i < 5; i++) expect((await register(withAuth, from)).body.errcode).toBe('M_INVALID_USERNAME');
      expectRateRefusal(await register(withAuth, from));
      expect((await register({ username: 'still', password: 'x', auth: null }, from)).status).toBe(401);
      expect((await register({ username: 'still', auth: 'yes' }, from)).body.errcode).toBe('M_BAD_JSON');
    });

    test('counts one IPv6 network as one source, and mapped IPv4 as IPv4', async () => {
      const body = { username: 'Bad Name', auth: { type: 'm.login.dummy' } };
      for (let i = 1; i <= 5; i++) expect((await register(body, `2001:db8:7:7::${i}`)).status).toBe(400);
      expectRateRefusal(await register(body, '2001:db8:7:7:ffff::1'));
      expect((await register(body, '2001:db8:7:8::1')).status).toBe(400);
      for (let i = 0; i < 5; i++) expect((await register(body, '192.0.2.200')).status).toBe(400);
      expectRateRefusal(await register(body, '::ffff:192.0.2.200'));
    });

    test('trusts only the rightmost entry, which the trusted proxy has written', async () => {
      const body = { username: 'Bad Name', auth: { type: 'm.login.dummy' } };
      for (let i = 0; i < 5; i++) expect((await register(body, `198.51.100.${i}, 192.0.2.201`)).status).toBe(400);
      expectRateRefusal(await register(body, '198.51.100.99, 192.0.2.201'));
    });
  });

  describe('rings', () => {
    test('share one budget over every path, name and encoding, refused by the room or not, delayed or not', async () => {
      const user = await MatrixUser.register(url());
      const room = await user.createRoom();
      const id = encodeURIComponent(room);
      const rings: [method: string, target: string, body?: object][] = [
        ['PUT', `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/1`],
        ['PUT', `/_matrix/client/r0/rooms/${id}/send/org.matrix.msc4075.rtc.notification/2`],
        ['PUT', `/_matrix/client/v3/rooms/${room}/send/m%2Ertc%2Enotification/3`],
        ['POST', `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification`],
        ['PUT', `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/4?org.matrix.msc4140.delay=5000`],
        [
          'PUT',
          `/_matrix/client/unstable/org.matrix.msc4140/rooms/${room}/delayed_event/m.rtc.notification/5`,
          { delay_ms: 5000, content: {} },
        ],
        ['PUT', `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/1`],
        ['PUT', `//_matrix/client/v3/rooms/${room}/%73end/m.rtc.notification/6/`],
      ];
      for (const [method, target, body = {}] of rings) expect((await user.call(method, target, body)).status).toBe(200);
      const elsewhere = '/_matrix/client/v3/rooms/!nowhere:b.example/send/m.rtc.notification/7';
      expect((await user.call('PUT', elsewhere, {})).status).toBe(403);
      const badShape = await user.call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/8`, '[');
      expect(badShape.body.errcode).toBe('M_NOT_JSON');
      for (const [method, target, body = {}] of rings) expectRateRefusal(await user.call(method, target, body));
    });

    test('are sent events only, not state of their type or their redactions', async () => {
      const user = await MatrixUser.register(url());
      const room = await user.createRoom();
      for (let i = 0; i < 12; i++) {
        const state = `/_matrix/client/v3/rooms/${room}/state/m.rtc.notification/${i}`;
        expect((await user.call('PUT', state, {})).status).toBe(200);
        const redaction = `/_matrix/client/v3/rooms/${room}/redact/m.rtc.notification/${i}`;
        expect((await user.call('PUT', redaction, {})).status).not.toBe(429);
      }
      const ring = `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/1`;
      expect((await user.call('PUT', ring, {})).status).toBe(200);
    });

    test('of different users are counted separately', async () => {
      const users = [await MatrixUser.register(url()), await MatrixUser.register(url())];
      const ring = '/_matrix/client/v3/rooms/!nowhere:b.example/send/m.rtc.notification/1';
      for (const user of users) {
        for (let i = 0; i < 10; i++) expect((await user.call('PUT', ring, {})).status).toBe(403);
        expectRateRefusal(await user.call('PUT', ring, {}));
      }
    });

    test('get the first response again when retransmitted below the rate', async () => {
      const user = await MatrixUser.register(url());
      const target = `/_matrix/client/v3/rooms/${await user.createRoom()}/send/m.rtc.notification/same`;
      const [first, again] = [await user.call('PUT', target, {}), await user.call('PUT', target, {})];
      expect(again.body).toEqual(first.body);
    });

    test('count only with a token', async () => {
      const target = '/_matrix/client/v3/rooms/!r:b.example/send/m.rtc.notification/1';
      expect((await call(url(), 'PUT', target, { body: {} })).body.errcode).toBe('M_MISSING_TOKEN');
      expect((await call(url(), 'PUT', target, { body: {}, token: 'x' })).body.errcode).toBe('M_UNKNOWN_TOKEN');
    });

    test('accept the token from the query, too, but not two different ones', async () => {
      const user = await MatrixUser.register(url());
      const room = await user.createRoom();
      const target = `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/q?access_token=${user.token}`;
      expect((await call(url(), 'PUT', target, { body: {} })).status).toBe(200);
      expect((await call(url(), 'PUT', target, { body: {}, token: 'other' })).status).toBe(400);
    });
  });

  describe('POST /openid/request_token', () => {
    test('returns 20 tokens a minute, and does not count requests for other users', async () => {
      const user = await MatrixUser.register(url());
      const foreign = '/_matrix/client/v3/user/@other:b.example/openid/request_token';
      for (let i = 0; i < 25; i++) expect((await user.call('POST', foreign, {})).body.errcode).toBe('M_FORBIDDEN');
      for (let i = 0; i < 20; i++) {
        const reply = await user.call('POST', user.path('openid/request_token'), i % 2 ? {} : undefined);
        expect(reply.body).toMatchObject({ token_type: 'Bearer', matrix_server_name: 'b.example', expires_in: 3600 });
      }
      expectRateRefusal(await user.call('POST', user.path('openid/request_token'), {}));
    });
  });

  describe('POST /_svc/rtc/media/sfu/get', () => {
    async function openIdToken(user: MatrixUser) {
      return (await user.call('POST', user.path('openid/request_token'), {})).body;
    }
    const ask = (body: object) => call(url(), 'POST', '/_svc/rtc/media/sfu/get', { body });

    test('returns credentials to members, 20 a minute, and counts requests of users who are not members', async () => {
      const user = await MatrixUser.register(url());
      const room = await user.createRoom();
      const openid_token = await openIdToken(user);
      const reply = await ask({ room, openid_token, device_id: 'D' });
      expect(reply.body.url).toBe('wss://sfu.example');
      const [, claims = ''] = reply.body.jwt.split('.');
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
        iss: 'key',
        sub: `${user.userId}:D`,
        video: { roomJoin: true, canPublish: true, canSubscribe: true },
      });
      const elsewhere = { room: '!nowhere:b.example', openid_token, device_id: 'D' };
      for (let i = 0; i < 19; i++) expect((await ask(elsewhere)).body.errcode).toBe('M_FORBIDDEN');
      expectRateRefusal(await ask({ room, openid_token, device_id: 'D' }));
    });

    test('never counts a token that is not live, and makes no request to an untrusted server', async () => {
      for (const matrix_server_name of ['b.example', '127.0.0.1:1', 'localhost:1', 'evil.example']) {
        for (let i = 0; i < 10; i++) {
          const openid_token = { access_token: 'x', matrix_server_name };
          const reply = await ask({ room: '!r:b.example', openid_token, device_id: 'D' });
          expect(reply.body.errcode).toBe('M_UNKNOWN_TOKEN');
        }
      }
    });

    test('refuses a malformed body, and one that another server could read differently', async () => {
      expect((await ask({ room: '!r:b.example' })).body.errcode).toBe('M_BAD_JSON');
      const openid_token = { access_token: 'x', matrix_server_name: 'b.example' };
      const whole = { room: '!r:b.example', device_id: 'D', openid_token };
      expect((await ask({ ...whole, OpenID_token: {} })).body.errcode).toBe('M_BAD_JSON');
      const spelt = { ...openid_token, acceſs_token: 'y' };
      expect((await ask({ ...whole, openid_token: spelt })).body.errcode).toBe('M_BAD_JSON');
    });
  });
});

inBothModes('rates switched off', '[ratelimit]\nenabled = false\n[limits]\npushers_per_user = 1\n', (system) => {
  test('refuse nothing, while the caps still apply', async () => {
    const user = await MatrixUser.register(system().url);
    const room = await user.createRoom();
    for (let i = 0; i < 15; i++) {
      const ring = `/_matrix/client/v3/rooms/${room}/send/m.rtc.notification/${i}`;
      expect((await user.call('PUT', ring, {})).status).toBe(200);
    }
    const pusher = (pushkey: string) => ({
      pushkey,
      app_id: 'app',
      kind: 'http',
      app_display_name: 'A',
      device_display_name: 'D',
      lang: 'en',
      data: { url: 'https://push.example/_matrix/push/v1/notify' },
    });
    const set = (body: object) => user.call('POST', '/_matrix/client/v3/pushers/set', body);
    expect((await set(pusher('one'))).status).toBe(200);
    expect((await set(pusher('two'))).body.errcode).toBe('M_LIMIT_EXCEEDED');
  });
});
