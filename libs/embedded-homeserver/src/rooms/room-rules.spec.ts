import { SystemClock } from '@headgate/clock';
import { Database } from '../database.js';
import { RoomRules } from './room-rules.js';
import type { NewEvent } from './events.js';
import { Rooms } from './rooms.js';

const ROOM = '!r:b';
const NORA = '@nora:b';
const OLAF = '@olaf:b';
const LEVELS = { users: { [NORA]: 100, [OLAF]: 50 }, events: { 'm.x': 60 } };

describe('RoomRules', () => {
  let db: Database;
  let rooms: Rooms;
  let rules: RoomRules;

  beforeEach(() => {
    db = Database.inMemory();
    rooms = new Rooms(db, new SystemClock());
    rules = new RoomRules(rooms);
    rooms.create(ROOM, NORA, '11');
    set('m.room.create', {});
    for (const userId of [NORA, OLAF, '@pia:b']) set('m.room.member', { membership: 'join' }, userId, userId);
    set('m.room.power_levels', LEVELS);
  });
  afterEach(() => db.close());

  const set = (type: string, content: object, stateKey = '', sender = NORA) =>
    rooms.append({ roomId: ROOM, type, stateKey, sender, content: { ...content } });
  const attempt = (event: Partial<NewEvent>) => () =>
    rules.check({ roomId: ROOM, type: 'm.y', sender: OLAF, content: {}, ...event });
  const levels = (content: object, sender = OLAF) =>
    attempt({ type: 'm.room.power_levels', stateKey: '', sender, content: { ...content } });
  const member = (stateKey: string, membership: string, sender = OLAF) =>
    attempt({ type: 'm.room.member', stateKey, sender, content: { membership } });
  const forbidden = expect.objectContaining({ errcode: 'M_FORBIDDEN' });
  const badJson = expect.objectContaining({ errcode: 'M_BAD_JSON' });

  test('lets members send, and no other users', () => {
    expect(attempt({})).not.toThrow();
    expect(attempt({ sender: '@who:b' })).toThrow(forbidden);
  });

  test('requires the power level of the event type or of state', () => {
    expect(attempt({ type: 'm.x' })).toThrow(forbidden);
    expect(attempt({ type: 'm.x', sender: NORA })).not.toThrow();
    expect(attempt({ stateKey: '' })).not.toThrow();
    expect(attempt({ stateKey: '', sender: '@pia:b' })).toThrow(forbidden);
  });

  test('refuses to create the room again, and to set state under the ID of another user', () => {
    expect(attempt({ type: 'm.room.create', stateKey: '', sender: NORA })).toThrow(forbidden);
    expect(attempt({ stateKey: NORA })).toThrow(forbidden);
    expect(attempt({ stateKey: OLAF })).not.toThrow();
  });

  test.each([
    ['raise the own level', { ...LEVELS, users: { [NORA]: 100, [OLAF]: 51 } }],
    ['raise another user above the own level', { ...LEVELS, users: { ...LEVELS.users, '@pia:b': 51 } }],
    ['lower a user with a higher level', { ...LEVELS, users: { [OLAF]: 50 } }],
    ['lower a threshold above the own level', { ...LEVELS, events: {} }],
    ['raise a threshold above the own level', { ...LEVELS, ban: 51 }],
    ['raise the notification level above the own level', { ...LEVELS, notifications: { room: 51 } }],
  ])('refuses power levels that %s', (_what, content) => {
    expect(levels(content)).toThrow(forbidden);
    expect(levels(content, NORA)).not.toThrow();
  });

  test('lets a member grant their own level, and step down', () => {
    expect(levels({ ...LEVELS, users: { ...LEVELS.users, '@pia:b': 50 } })).not.toThrow();
    expect(levels({ ...LEVELS, users: { ...LEVELS.users, [OLAF]: 10 } })).not.toThrow();
  });

  test('refuses to lower a user of the same level', () => {
    set('m.room.power_levels', { users: { ...LEVELS.users, '@pia:b': 50 } });
    expect(levels({ users: LEVELS.users })).toThrow(forbidden);
  });

  test.each([
    [{ users: 'x' }],
    [{ users: { nora: 5 } }],
    [{ ban: '50' }],
    [{ events: { a: 1.5 } }],
    [{ users_default: null }],
  ])('refuses the power levels %j', (content) => {
    expect(levels(content, NORA)).toThrow(badJson);
  });

  test('lets the creator alone set the first power levels', () => {
    rooms.create('!new:b', NORA, '11');
    for (const userId of [NORA, OLAF]) {
      const content = { membership: 'join' };
      rooms.append({ roomId: '!new:b', type: 'm.room.member', stateKey: userId, sender: userId, content });
    }
    const first = (sender: string) => attempt({ roomId: '!new:b', type: 'm.room.power_levels', stateKey: '', sender });
    expect(first(OLAF)).toThrow(forbidden);
    expect(first(NORA)).not.toThrow();
  });

  test('lets members kick and ban only users below them', () => {
    for (const membership of ['leave', 'ban']) {
      expect(member('@pia:b', membership)).not.toThrow();
      expect(member(NORA, membership)).toThrow(forbidden);
      expect(member(OLAF, membership, '@pia:b')).toThrow(forbidden);
    }
  });

  test('keeps banned users out until a member with that power level unbans them', () => {
    set('m.room.power_levels', { ...LEVELS, ban: 60 });
    set('m.room.join_rules', { join_rule: 'public' });
    set('m.room.member', { membership: 'ban' }, '@pia:b');
    expect(member('@pia:b', 'join', '@pia:b')).toThrow(forbidden);
    expect(member('@pia:b', 'leave', '@pia:b')).toThrow(forbidden);
    expect(member('@pia:b', 'invite')).toThrow(forbidden);
    expect(member('@pia:b', 'leave')).toThrow(forbidden);
    expect(member('@pia:b', 'leave', NORA)).not.toThrow();
  });

  test('lets invited users join, and every user when the room is public', () => {
    expect(member('@new:b', 'join', '@new:b')).toThrow(forbidden);
    expect(member('@new:b', 'join', NORA)).toThrow(forbidden);
    expect(member('@new:b', 'invite', '@pia:b')).not.toThrow();
    expect(member(NORA, 'invite')).toThrow(forbidden);
    set('m.room.member', { membership: 'invite' }, '@new:b');
    expect(member('@new:b', 'join', '@new:b')).not.toThrow();
    set('m.room.join_rules', { join_rule: 'public' });
    expect(member('@other:b', 'join', '@other:b')).not.toThrow();
  });

  test('lets only members leave', () => {
    expect(member('@new:b', 'leave', '@new:b')).toThrow(forbidden);
    expect(member(OLAF, 'leave')).not.toThrow();
  });

  test.each([
    ['a membership without a state key', { type: 'm.room.member', content: { membership: 'join' } }],
    ['a membership of no user', { type: 'm.room.member', stateKey: 'x', content: { membership: 'join' } }],
    ['an unknown membership', { type: 'm.room.member', stateKey: OLAF, content: { membership: 'knock' } }],
    ['a fraction', { content: { a: 1.5 } }],
  ])('refuses %s', (_what, event) => expect(attempt(event)).toThrow(badJson));

  test.each([
    ['an event', { content: { a: 'x'.repeat(65_536) } }],
    ['a type', { type: 'é'.repeat(128) }],
    ['a state key', { stateKey: 'x'.repeat(256) }],
  ])('refuses %s that is too large', (_what, event) =>
    expect(attempt(event)).toThrow(expect.objectContaining({ status: 413, errcode: 'M_TOO_LARGE' })),
  );
});
