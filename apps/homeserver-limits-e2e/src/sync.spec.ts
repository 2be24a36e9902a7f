import { inBothModes } from './testing/modes.js';
import { call } from './testing/http-client.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';

const CLIENT = '/_matrix/client/v3';

interface Event {
  type: string;
  state_key?: string;
  content: object;
}

inBothModes('sync', '', (system) => {
  let user: MatrixUser;
  let other: MatrixUser;
  beforeEach(async () => {
    user = await MatrixUser.register(system().url);
    other = await MatrixUser.register(system().url);
  });

  const sync = async (who: MatrixUser, since?: string, timeout = 0) =>
    (await who.call('GET', `${CLIENT}/sync?timeout=${timeout}${since === undefined ? '' : `&since=${since}`}`)).body;
  const join = (who: MatrixUser, room: string) => who.call('POST', `${CLIENT}/rooms/${room}/join`, {});
  const typesOf = (events: Event[]) => events.map(({ type }) => type);

  test('waits for events of the user, and returns as soon as one arrives', async () => {
    const room = await user.createRoom();
    const { next_batch } = await sync(user);
    await other.createRoom();
    const waiting = sync(user, next_batch, 30_000);
    const { event_id } = (await user.call('PUT', `${CLIENT}/rooms/${room}/send/m.x/1`, { a: 1 })).body;
    const { rooms } = await waiting;
    expect(rooms.join[room].timeline.events).toMatchObject([{ event_id }]);
    expect(Object.keys(rooms.join)).toEqual([room]);
  });

  test('reports account data, tags and their deletion to other clients', async () => {
    const room = await user.createRoom();
    let { next_batch: since } = await sync(user);
    const after = async (method: string, path: string, body?: object) => {
      const waiting = sync(user, since, 30_000);
      await user.call(method, path, body);
      const answer = await waiting;
      since = answer.next_batch;
      return answer;
    };
    const global = user.path('account_data/x');
    expect((await after('PUT', global, { a: 1 })).account_data.events).toEqual([{ type: 'x', content: { a: 1 } }]);
    expect((await after('PUT', global, {})).account_data.events).toEqual([{ type: 'x', content: {} }]);
    const tag = user.path(`rooms/${room}/tags/u.t`);
    const tags = { type: 'm.tag', content: { tags: { 'u.t': { order: 0.5 } } } };
    expect((await after('PUT', tag, { order: 0.5 })).rooms.join[room].account_data.events).toEqual([tags]);
    expect((await sync(user, since)).rooms.join).toEqual({});
    expect((await sync(user)).account_data.events).toEqual([]);
  });

  test('shows an invitation with its sender and room, once', async () => {
    const { next_batch } = await sync(other);
    const room = await user.createRoom({ name: 'Hall', invite: [other.userId] });
    const answer = await sync(other, next_batch);
    const { events } = answer.rooms.invite[room].invite_state;
    expect(events).toContainEqual(expect.objectContaining({ type: 'm.room.name', content: { name: 'Hall' } }));
    const mine = { type: 'm.room.member', state_key: other.userId, sender: user.userId };
    expect(events).toContainEqual(expect.objectContaining({ ...mine, content: { membership: 'invite' } }));
    expect(typesOf(events)).not.toContain('m.room.power_levels');
    expect((await sync(other, answer.next_batch)).rooms.invite).toEqual({});
  });

  test('returns the whole state to a new member, and to a leaving one only the leave event', async () => {
    const room = await user.createRoom({ preset: 'public_chat', topic: 'T' });
    await user.call('PUT', `${CLIENT}/rooms/${room}/send/m.x/1`, {});
    const before = (await sync(other)).next_batch;
    await join(other, room);
    const joined = await sync(other, before);
    const { state, timeline } = joined.rooms.join[room];
    const types = typesOf([...state.events, ...timeline.events]);
    expect(types).toEqual(expect.arrayContaining(['m.room.create', 'm.room.power_levels', 'm.room.topic', 'm.x']));
    await other.call('POST', `${CLIENT}/rooms/${room}/leave`, {});
    await user.call('PUT', `${CLIENT}/rooms/${room}/send/m.secret/1`, {});
    const { rooms } = await sync(other, joined.next_batch);
    expect(rooms.join).toEqual({});
    expect(rooms.leave[room].timeline.events).toMatchObject([{ content: { membership: 'leave' } }]);
  });

  test('returns the state that a limited timeline has skipped', async () => {
    const room = await user.createRoom();
    const { next_batch } = await sync(user);
    await user.call('PUT', `${CLIENT}/rooms/${room}/state/m.room.topic/`, { topic: 'skipped' });
    for (let i = 0; i < 20; i++) await user.call('PUT', `${CLIENT}/rooms/${room}/send/m.x/${i}`, {});
    const { state, timeline } = (await sync(user, next_batch)).rooms.join[room];
    expect([timeline.limited, timeline.events.length]).toEqual([true, 20]);
    expect(state.events).toMatchObject([{ type: 'm.room.topic', content: { topic: 'skipped' } }]);
  });

  test('returns the transaction ID to the sending device only', async () => {
    const room = await user.createRoom({ invite: [other.userId] });
    await join(other, room);
    const since = (await sync(user)).next_batch;
    await user.call('PUT', `${CLIENT}/rooms/${room}/send/m.x/mine`, {});
    const login = { type: 'm.login.password', user: user.name, password: MatrixUser.password };
    const session = await call(system().url, 'POST', `${CLIENT}/login`, { body: login, from: freshAddress() });
    const seenBy = async (token: string) => {
      const { body } = await call(system().url, 'GET', `${CLIENT}/sync?since=${since}`, { token });
      return body.rooms.join[room].timeline.events[0].unsigned;
    };
    expect(await seenBy(user.token)).toEqual({ transaction_id: 'mine' });
    expect(await seenBy(session.body.access_token)).toBeUndefined();
    expect(await seenBy(other.token)).toBeUndefined();
  });

  test.each(['x', 's1_', 's-1', 's1_2_3', 's9999999999999999999'])('refuses the token %s', async (since) => {
    const reply = await user.call('GET', `${CLIENT}/sync?since=${since}`);
    expect([reply.status, reply.body.errcode]).toEqual([400, 'M_INVALID_PARAM']);
  });

  test('starts from scratch for a token beyond its last event', async () => {
    const room = await user.createRoom();
    expect(Object.keys((await sync(user, 's999999999_0', 30_000)).rooms.join)).toEqual([room]);
  });
});
