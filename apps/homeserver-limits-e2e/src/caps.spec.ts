import { request } from 'node:http';
import { connect } from 'node:net';
import { inBothModes } from './testing/modes.js';
import { call, type Reply } from './testing/http-client.js';
import { MatrixUser } from './testing/matrix-user.js';

const MIB = 1024 * 1024;

function expectCapRefusal(reply: Reply): void {
  expect(reply.status).toBe(400);
  expect(reply.body.errcode).toBe('M_LIMIT_EXCEEDED');
  expect(reply.body.error).toContain('waiting does not help');
  expect(reply.body).not.toHaveProperty('retry_after_ms');
  expect(reply.headers).not.toHaveProperty('retry-after');
}

const SMALL = `[limits]\nfilters_per_user = 5\naccount_data_per_user = 6\npushers_per_user = 2\n[delayed_events]\nmax_per_room = 4\nmax_delay_ms = 60000\n`;

inBothModes('the caps', SMALL, (system) => {
  let user: MatrixUser;
  beforeEach(async () => {
    user = await MatrixUser.register(system().url);
  });

  describe('filters', () => {
    const create = (limit: number) => user.call('POST', user.path('filter'), { room: { timeline: { limit } } });

    test('are refused at the cap, except for a held one', async () => {
      for (let i = 1; i <= 5; i++) expect((await create(i)).status).toBe(200);
      expectCapRefusal(await create(6));
      const again = await create(3);
      expect(again.status).toBe(200);
      expect(again.body.filter_id).not.toMatch(/^\{/);
      expect((await user.call('GET', user.path(`filter/${again.body.filter_id}`))).body.room.timeline.limit).toBe(3);
    });

    test('are never exceeded by parallel requests', async () => {
      const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => create(i + 1)));
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
    });

    test('that are malformed or belong to another user take no room', async () => {
      for (let i = 0; i < 10; i++) {
        expect((await user.call('POST', user.path('filter'), '[]')).body.errcode).toBe('M_BAD_JSON');
        expect((await user.call('POST', '/_matrix/client/v3/user/@x:b.example/filter', {})).status).toBe(403);
      }
      expect((await create(1)).status).toBe(200);
    });
  });

  describe('account data', () => {
    const put = (type: string, content: object = { a: 1 }) =>
      user.call('PUT', user.path(`account_data/${type}`), content);
    const putInRoom = (type: string) =>
      user.call('PUT', user.path(`rooms/!r:b.example/account_data/${type}`), { a: 1 });

    test('counts types over all scopes, and rewriting one is free', async () => {
      for (let i = 0; i < 3; i++) expect((await put(`t${i}`)).status).toBe(200);
      for (let i = 0; i < 3; i++) expect((await putInRoom(`t${i}`)).status).toBe(200);
      expectCapRefusal(await put('t3'));
      expectCapRefusal(await putInRoom('t3'));
      expect((await put('t0', { new: true })).status).toBe(200);
      expect((await put('%740', { newer: true })).status).toBe(200);
      expect((await user.call('GET', user.path('account_data/t0'))).body).toEqual({ newer: true });
    });

    test('frees a slot when an entry is deleted', async () => {
      for (let i = 0; i < 6; i++) await put(`t${i}`);
      expectCapRefusal(await put('t6'));
      const unstable = user.path('account_data/t0').replace('/v3/', '/unstable/org.matrix.msc3391/');
      expect((await user.call('DELETE', unstable)).status).toBe(200);
      expect((await put('t6', { a: 1 })).status).toBe(200);
      expectCapRefusal(await put('t7', { a: 1 }));
      expect((await put('t6', {})).status).toBe(200);
      await eventually(async () => (await put('t7', { a: 1 })).status === 200);
      expectCapRefusal(await put('t8', { a: 1 }));
    });

    test('is never exceeded by parallel writes, and parallel writes of one new type take one slot', async () => {
      const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => put(`t${i % 10}`)));
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(12);
    });

    test('refuses types that the server owns, and content that is not an object, before it counts', async () => {
      expect((await put('m.push_rules')).status).toBe(405);
      expect((await put('m.fully_read')).body.errcode).toBe('M_BAD_JSON');
      expect((await user.call('PUT', user.path('account_data/t'), '"text"')).body.errcode).toBe('M_BAD_JSON');
    });
  });

  describe('pushers', () => {
    test('are never exceeded by parallel writes, whatever their names look like when joined', async () => {
      const words = (number: number) => Array<string>(number).fill('a').join(' ');
      const set = (i: number) =>
        user.call('POST', '/_matrix/client/v3/pushers/set', {
          kind: 'http',
          app_display_name: 'A',
          device_display_name: 'D',
          lang: 'en',
          app_id: words(i + 1),
          pushkey: words(20 - i),
          data: { url: 'https://push.example/_matrix/push/v1/notify' },
        });
      const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => set(i)));
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(2);
    });
  });

  describe('delayed events', () => {
    const later = (room: string, txn: string, delay: number | string = 50_000) =>
      user.call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.x/${txn}?org.matrix.msc4140.delay=${delay}`, {});
    const manage = (id: string, action: string) =>
      user.call('POST', `/_matrix/client/unstable/org.matrix.msc4140/delayed_events/${id}/${action}`, {});

    test('are pending in one room up to the cap, with either way of scheduling', async () => {
      const [room, other] = [await user.createRoom(), await user.createRoom()];
      const first = await later(room, '1');
      expect(first.body.delay_id).toBeDefined();
      expect(
        (await user.call('PUT', `/_matrix/client/v3/rooms/${room}/state/m.x/?org.matrix.msc4140.delay=50000`, {}))
          .status,
      ).toBe(200);
      const accepted = `/_matrix/client/v3/rooms/${room}/delayed_event/m.x/1`;
      expect((await user.call('PUT', accepted, { delay_ms: 50_000, content: {} })).status).toBe(200);
      expect((await later(room, '2')).status).toBe(200);
      expectCapRefusal(await later(room, '3'));
      expectCapRefusal(await user.call('PUT', accepted.replace(/1$/, '2'), { delay_ms: 50_000, content: {} }));
      expect((await later(room, '1')).body).toEqual(first.body);
      expect((await later(other, '1')).status).toBe(200);
      expect((await manage(first.body.delay_id, 'restart')).status).toBe(200);
      expect((await manage(first.body.delay_id, 'cancel')).status).toBe(200);
      expect((await later(room, '4')).status).toBe(200);
      expectCapRefusal(await later(room, '5'));
    });

    test('take no room while their bodies have not arrived', async () => {
      const room = await user.createRoom();
      for (let i = 0; i < 8; i++) {
        await givesUp(
          system().url,
          `PUT /_matrix/client/v3/rooms/${room}/send/m.x/cut${i}?org.matrix.msc4140.delay=50000 HTTP/1.1\r\nHost: b\r\n` +
            `Authorization: Bearer ${user.token}\r\nContent-Length: 100\r\n\r\n{"half":`,
        );
      }
      for (let i = 0; i < 4; i++) await eventually(async () => (await later(room, `${i}`)).status === 200);
      expectCapRefusal(await later(room, '4'));
    });

    test('are refused beyond the longest delay with the error that clients understand', async () => {
      const room = await user.createRoom();
      expect((await later(room, '1', 60_000)).status).toBe(200);
      const reply = await later(room, '2', 60_001);
      expect(reply.status).toBe(400);
      expect(reply.body).toMatchObject({
        errcode: 'M_UNKNOWN',
        error: expect.stringContaining('60000 ms'),
        'org.matrix.msc4140.errcode': 'M_MAX_DELAY_EXCEEDED',
        'org.matrix.msc4140.max_delay': 60_000,
      });
    });

    test.each([
      ['org.matrix%2Emsc4140.delay=60001'],
      ['a=1;org.matrix.msc4140.delay=60001'],
      [';org.matrix.msc4140.delay=60001;a'],
    ])('are recognized with every encoding of the query: ?%s', async (query) => {
      for (const path of ['send/m.x/1', 'state/m.x/key']) {
        const reply = await user.call('PUT', `/_matrix/client/v3/rooms/!r:b.example/${path}?${query}`, {});
        expect(reply.body['org.matrix.msc4140.max_delay']).toBe(60_000);
      }
    });

    test.each([['0'], ['-1'], ['1.5'], ['soon'], [''], ['1&org.matrix.msc4140.delay=2']])(
      'refuse the delay "%s"',
      async (delay) => {
        const reply = await later('!r:b.example', '1', delay);
        expect([reply.status, reply.body.errcode]).toEqual([400, 'M_INVALID_PARAM']);
      },
    );
  });

  test('without a setting are in the metrics like the others', async () => {
    const decided = async (rule: string, outcome: string) => {
      const metrics = (await call(system().limits.url, 'GET', '/metrics')).bytes.toString();
      const series = new RegExp(`^limits_decisions_total\\{rule="${rule}",outcome="${outcome}"\\} (\\d+)$`, 'm');
      return Number(series.exec(metrics)?.[1] ?? 0);
    };
    const send = (delay: number) =>
      user.call('PUT', `/_matrix/client/v3/rooms/!r:b.example/send/m.x/${delay}?org.matrix.msc4140.delay=${delay}`, {});
    const transaction = (id: string) =>
      call(system().url, 'PUT', `/_matrix/federation/v1/send/${id}`, { body: { pdus: Array(51).fill({}) } });
    const attempts: [rule: string, refused: () => Promise<Reply>, granted: () => Promise<Reply>][] = [
      ['longest_delay', () => send(60_001), () => send(60_000)],
      [
        'media_upload',
        () => user.call('POST', '/_matrix/media/v3/upload', Buffer.alloc(50 * MIB + 1)),
        () => user.call('POST', '/_matrix/media/v3/upload', Buffer.alloc(1)),
      ],
      ['federation_transaction_id', () => transaction('t'.repeat(256)), () => transaction('t')],
      [
        'federation_pdus',
        () => transaction('t'),
        () => call(system().url, 'PUT', '/_matrix/federation/v1/send/t', { body: { pdus: [] } }),
      ],
    ];
    for (const [rule, refused, granted] of attempts) {
      const before = [await decided(rule, 'refused'), await decided(rule, 'granted')];
      await refused();
      expect(await decided(rule, 'refused')).toBe((before[0] ?? 0) + 1);
      await granted();
      expect(await decided(rule, 'granted')).toBeGreaterThan(before[1] ?? 0);
    }
  });

  describe('media uploads', () => {
    test('reserve an ID with a small body, sent with a length or in chunks', async () => {
      const { url } = system();
      for (const version of ['v1', 'v3']) {
        const path = `/_matrix/media/${version}/create`;
        expect((await user.call('POST', path, Buffer.alloc(1 * MIB))).body.errcode).toBe('M_TOO_LARGE');
        const headers = { Authorization: `Bearer ${user.token}` };
        const body = new Blob([Buffer.alloc(1 * MIB)]).stream();
        const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
        expect((await fetch(`${url}${path}`, init)).status).toBe(413);
        expect((await user.call('POST', path, {})).status).toBe(200);
        expect((await user.call('POST', path)).status).toBe(200);
      }
    });

    const upload = (size: number) => user.call('POST', '/_matrix/media/v3/upload?filename=x', Buffer.alloc(size));

    test('accept exactly 50 MiB, as declared', async () => {
      expect((await upload(50 * MIB)).body.content_uri).toMatch(/^mxc:\/\/b\.example\/[A-Za-z0-9_-]+$/);
      const reply = await upload(50 * MIB + 1);
      expect([reply.status, reply.body.errcode]).toEqual([413, 'M_TOO_LARGE']);
    });

    test('without a declared length are refused while they stream', async () => {
      const { hostname, port } = new URL(system().url);
      const headers = { Authorization: `Bearer ${user.token}` };
      const path = '/_matrix/media/r0/upload';
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const outgoing = request({ hostname, port, method: 'POST', path, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      outgoing.once('error', reject);
      const chunk = Buffer.alloc(MIB);
      for (let i = 0; i < 51; i++) outgoing.write(chunk);
      outgoing.end();
      expect(await promise).toBe(413);
    });

    test('are refused before the body is requested', async () => {
      const { hostname, port } = new URL(system().url);
      const headers = {
        Authorization: `Bearer ${user.token}`,
        Expect: '100-continue',
        'Content-Length': String(51 * MIB),
      };
      const { promise, resolve } = Promise.withResolvers<string>();
      const outgoing = request({ hostname, port, method: 'POST', path: '/_matrix/media/v3/upload', headers });
      outgoing.once('continue', () => resolve('asked for the body'));
      outgoing.once('response', ({ statusCode }) => resolve(String(statusCode)));
      outgoing.once('error', () => undefined);
      outgoing.flushHeaders();
      expect(await promise).toBe('413');
      outgoing.destroy();
    });

    test('are capped under a reserved ID, too, which is filled once', async () => {
      const created = await user.call('POST', '/_matrix/media/v1/create');
      const target = `/_matrix/media/v3/upload/${created.body.content_uri.slice('mxc://'.length)}`;
      expect((await user.call('PUT', target, Buffer.alloc(50 * MIB + 1))).status).toBe(413);
      expect((await user.call('PUT', target, Buffer.from('body'))).body).toEqual({});
      expect((await user.call('PUT', target, Buffer.from('other'))).body.errcode).toBe('M_CANNOT_OVERWRITE_MEDIA');
      const download = target.replace('/_matrix/media/v3/upload/', '/_matrix/client/v1/media/download/');
      expect((await user.call('GET', download)).bytes.toString()).toBe('body');
    });

    test('advertise their cap on every path', async () => {
      for (const path of ['/_matrix/client/v1/media/config', '/_matrix/media/v3/config', '/_matrix/media/r0/config']) {
        expect((await user.call('GET', path)).body).toEqual({ 'm.upload.size': 50 * MIB });
      }
    });
  });
});

inBothModes('the caps at their defaults', '', (system) => {
  test('limit a device to 1,000 one-time keys', async () => {
    const user = await MatrixUser.register(system().url);
    const batch = (from: number, size: number, extra = {}) => {
      const keys = Array.from({ length: size }, (_, i) => [`signed_curve25519:k${from + i}`, { key: `${from + i}` }]);
      return user.call('POST', '/_matrix/client/v3/keys/upload', { one_time_keys: Object.fromEntries(keys), ...extra });
    };
    expect((await batch(0, 950)).body.one_time_key_counts.signed_curve25519).toBe(950);
    expectCapRefusal(await batch(2000, 51));
    const batches = await Promise.all(Array.from({ length: 20 }, (_, i) => batch(950 + i * 10, 10)));
    expect(batches.filter(({ status }) => status === 200)).toHaveLength(5);
    expect((await batch(0, 0)).body).toEqual({ one_time_key_counts: { signed_curve25519: 1000 } });
    expectCapRefusal(await batch(1000, 1));
    const deviceKeys = { user_id: user.userId, device_id: user.deviceId, algorithms: [], keys: {}, signatures: {} };
    expectCapRefusal(await batch(1000, 1, { device_keys: deviceKeys }));
    const legacy = await user.call('POST', `/_matrix/client/r0/keys/upload/${user.deviceId}`, {
      one_time_keys: { 'a:b': 'c' },
    });
    expectCapRefusal(legacy);
    expect(
      (await user.call('POST', '/_matrix/client/v3/keys/upload', {})).body.one_time_key_counts.signed_curve25519,
    ).toBe(1000);
    expect((await user.call('POST', '/_matrix/client/v3/keys/upload', { one_time_keys: null })).status).toBe(200);
    const fallback_keys = { 'signed_curve25519:f': { key: 'f', fallback: true } };
    expect((await user.call('POST', '/_matrix/client/v3/keys/upload', { fallback_keys })).status).toBe(200);
    const claim = { one_time_keys: { [user.userId]: { [user.deviceId]: 'signed_curve25519' } } };
    const claimed = await user.call('POST', '/_matrix/client/v3/keys/claim', claim);
    expect(claimed.body.one_time_keys[user.userId][user.deviceId]).toEqual({ 'signed_curve25519:k0': { key: '0' } });
    // A gateway caches the count behind a refusal for a second.
    await eventually(async () => (await batch(1000, 1)).status === 200);
    expectCapRefusal(await batch(1001, 1));
  });

  test('limit a user to 100 pushers, with free replacement and removal', async () => {
    const user = await MatrixUser.register(system().url);
    const set = (pushkey: string, extra = {}) =>
      user.call('POST', '/_matrix/client/v3/pushers/set', {
        pushkey,
        app_id: 'app',
        kind: 'http',
        app_display_name: 'A',
        device_display_name: 'D',
        lang: 'en',
        data: { url: 'https://push.example/_matrix/push/v1/notify' },
        ...extra,
      });
    for (let i = 0; i < 99; i++) expect((await set(`key${i}`)).status).toBe(200);
    const atOnce = await Promise.all(Array.from({ length: 50 }, (_, i) => set(i % 2 ? 'key99' : `other${i}`)));
    const taken = atOnce.filter(({ status }) => status === 200);
    // Writes of one new pusher share its slot, so all of them may take it, and then no others.
    expect([1, 25]).toContain(taken.length);
    for (const refused of atOnce) if (refused.status !== 200) expectCapRefusal(refused);
    expect((await user.call('GET', '/_matrix/client/v3/pushers')).body.pushers).toHaveLength(100);
    expectCapRefusal(await set('key100'));
    expectCapRefusal(await set('key100', { append: true }));
    expect((await set('key5', { lang: 'de' })).status).toBe(200);
    expect((await set('nothing', { kind: null })).status).toBe(200);
    expect((await set('key5', { kind: null })).status).toBe(200);
    await eventually(async () => (await set('key100')).status === 200);
    expectCapRefusal(await set('key101'));
    expect((await user.call('GET', '/_matrix/client/v3/pushers')).body.pushers).toHaveLength(100);
  });

  test('limit a user to 1,000 filters', async () => {
    const user = await MatrixUser.register(system().url);
    const create = (limit: number) => user.call('POST', user.path('filter'), { room: { timeline: { limit } } });
    for (let i = 0; i < 1000; i += 50) {
      const replies = await Promise.all(Array.from({ length: 50 }, (_, k) => create(i + k + 1)));
      expect(replies.every(({ status }) => status === 200)).toBe(true);
    }
    expectCapRefusal(await create(5000));
  });

  test('limit a user to 100 delayed events in one room and 24 hours', async () => {
    const user = await MatrixUser.register(system().url);
    const room = await user.createRoom();
    const later = (i: number, delay = 86_400_000) =>
      user.call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.x/${i}?org.matrix.msc4140.delay=${delay}`, {});
    const replies = await Promise.all(Array.from({ length: 130 }, (_, i) => later(i)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(100);
    expect((await later(500, 86_400_001)).body['org.matrix.msc4140.max_delay']).toBe(86_400_000);
  });
});

/** Sends a part of a request and closes the connection. */
async function givesUp(base: string, part: string): Promise<void> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve) => socket.write(part, () => resolve()));
  socket.destroy();
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await holds())) if (Date.now() > deadline) throw new Error('it did not come to hold');
}
