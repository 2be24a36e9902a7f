import { inEveryMode } from './testing/modes.js';
import { call } from './testing/http-client.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';

/** More than any cap of the contract that could apply here by mistake. */
const MANY = 110;
/** A homeserver on a busy machine takes longer for all of them than the gateway waits for one. */
const AT_ONCE = 10;

async function each<T>(work: (i: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < MANY) {
    const first = results.length;
    results.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_none, index) => work(first + index)))));
  }
  return results;
}

inEveryMode('what has no bound', '', (system) => {
  let user: MatrixUser;
  let room: string;
  beforeAll(async () => {
    user = await MatrixUser.register(system().url);
    room = await user.createRoom();
  });

  async function expectAll(
    method: string,
    target: (i: number) => string,
    body: (i: number) => object | Buffer,
    expected = 200,
  ): Promise<void> {
    const replies = await each((i) => user.call(method, target(i), body(i)));
    expect(replies.map(({ status }) => status)).toEqual(Array<number>(MANY).fill(expected));
  }

  test('rooms of a user', () =>
    expectAll(
      'POST',
      () => '/_matrix/client/v3/createRoom',
      () => ({}),
    ));

  test('aliases of a room', () =>
    expectAll(
      'PUT',
      (i) => `/_matrix/client/v3/directory/room/%23a${i}:b.example`,
      () => ({ room_id: room }),
    ));

  test('media of a user', () =>
    expectAll(
      'POST',
      () => '/_matrix/media/v3/upload',
      (i) => Buffer.from(`object ${i}`),
    ));

  test('reserved media IDs', () =>
    expectAll(
      'POST',
      () => '/_matrix/media/v1/create',
      () => ({}),
      system().homeserver?.reservesMedia === false ? 404 : 200,
    ));

  test('tags of a room', () =>
    expectAll(
      'PUT',
      (i) => user.path(`rooms/${encodeURIComponent(room)}/tags/u.t${i}`),
      () => ({ order: 0.5 }),
    ));

  test('invites of a sender', () =>
    expectAll(
      'POST',
      () => `/_matrix/client/v3/rooms/${room}/invite`,
      (i) => ({ user_id: `@i${i}:b.example` }),
    ));

  test('events in a room', () =>
    expectAll(
      'PUT',
      (i) => `/_matrix/client/v3/rooms/${room}/send/m.room.message/m${i}`,
      () => ({ msgtype: 'm.text', body: 'x' }),
    ));

  test('rooms that a user joins', async () => {
    const host = await MatrixUser.register(system().url);
    const rooms = await each(() => host.createRoom({ preset: 'public_chat' }));
    await expectAll(
      'POST',
      (i) => `/_matrix/client/v3/rooms/${rooms[i]}/join`,
      () => ({}),
    );
  });

  test('joins', async () => {
    const open = await user.createRoom({ preset: 'public_chat' });
    await expectAll(
      'POST',
      () => `/_matrix/client/v3/rooms/${open}/join`,
      () => ({}),
    );
    await expectAll(
      'POST',
      () => `/_matrix/client/v3/join/${encodeURIComponent(open)}`,
      () => ({}),
    );
  });

  test('devices of a user', async () => {
    for (let i = 0; i < 40; i++) {
      const body = { type: 'm.login.password', user: user.name, password: MatrixUser.password, device_id: `D${i}` };
      const reply = await call(system().url, 'POST', '/_matrix/client/v3/login', { body, from: freshAddress() });
      expect(reply.status).toBe(200);
    }
  });

  test('one-time key claims, and whoami', async () => {
    await expectAll(
      'POST',
      () => '/_matrix/client/v3/keys/claim',
      () => ({ one_time_keys: {} }),
    );
    const replies = await each(() => user.call('GET', '/_matrix/client/v3/account/whoami'));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
  });

  test('restarts of a delayed event', async () => {
    const target = `/_matrix/client/v3/rooms/${room}/send/m.x/leave?org.matrix.msc4140.delay=60000`;
    const { delay_id } = (await user.call('PUT', target, {})).body;
    if (system().homeserver?.hasDelayedEvents === false) return expect(delay_id).toBeUndefined();
    const restart = `/_matrix/client/unstable/org.matrix.msc4140/delayed_events/${delay_id}`;
    await expectAll(
      'POST',
      () => restart,
      () => ({ action: 'restart' }),
    );
    const anonymous = await call(system().url, 'POST', `${restart}/restart`, { body: {} });
    expect(anonymous.status).toBe(200);
  });
});
