import { DomainError, type UserGroups } from '@headgate/domain-contracts';
import { FixedClock, MemoryUserGroupsStore } from '@headgate/testing';
import { KnownGroups, MAX_USERS_WITH_GROUPS } from './known-groups.js';
import { Roles } from './roles.js';
import { UserRights } from './user-rights.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-01-01T00:00:00Z');

/** Counts the writes, and may fail. */
class CountingStore extends MemoryUserGroupsStore {
  writes = 0;
  failure: Error | undefined;

  constructor() {
    super();
    const { put, change } = this;
    this.put = (one) => this.count(() => put(one));
    this.change = (key, next) => this.count(() => change(key, next));
  }

  private async count<T>(work: () => Promise<T>): Promise<T> {
    if (this.failure) throw this.failure;
    this.writes++;
    return work();
  }
}

describe('KnownGroups', () => {
  let clock: FixedClock;
  let store: CountingStore;
  let groups: KnownGroups;
  let warnings: string[];

  beforeEach(() => {
    clock = new FixedClock(START);
    store = new CountingStore();
    warnings = [];
    groups = open(7);
  });

  const open = (days: number): KnownGroups =>
    new KnownGroups(store, clock, {
      days,
      log: { info: () => undefined, warn: (_fields, message) => void warnings.push(message) },
    });

  test('count for a limited time after the last login', async () => {
    await groups.record('corp:ann', ['ops', 'dev', 'ops']);
    expect(groups.find('corp:ann')).toEqual({
      groups: ['dev', 'ops'],
      at: '2026-01-01T00:00:00.000Z',
      until: '2026-01-08T00:00:00.000Z',
    });
    clock.advance(7 * DAY_MS - 1);
    expect(groups.of('corp:ann')).toEqual(['dev', 'ops']);
    clock.advance(1);
    expect([groups.of('corp:ann'), groups.find('corp:ann')]).toEqual([[], undefined]);
    await groups.record('corp:ann', ['ops']);
    expect(groups.of('corp:ann')).toEqual(['ops']);
  });

  test('survive a restart, with the time of the login', async () => {
    await groups.record('ann', ['ops']);
    clock.advance(3 * DAY_MS);
    expect(open(7).find('ann')).toMatchObject({ groups: ['ops'], at: '2026-01-01T00:00:00.000Z' });
    expect(open(2).of('ann')).toEqual([]);
  });

  test('are those of one user: neither of a user of another provider, nor of callers without a login', async () => {
    await groups.record('corp:ann', ['ops']);
    await groups.record('', ['root']);
    expect([groups.of('Corp:Ann'), groups.of('other:ann'), groups.of('ann'), groups.of('')]).toEqual([
      ['ops'],
      [],
      [],
      [],
    ]);
    expect(store.all()).toHaveLength(1);
  });

  test('are replaced by the next login, also by none', async () => {
    await groups.record('ann', ['ops', 'dev']);
    await groups.record('ann', ['dev']);
    expect(groups.of('ann')).toEqual(['dev']);
    await groups.record('ann', []);
    expect(groups.of('ann')).toEqual([]);
  });

  test('are those of the later of two logins at once', async () => {
    await Promise.all([groups.record('ann', ['ops']), groups.record('ann', ['dev'])]);
    expect(groups.of('ann')).toEqual(['dev']);
    await Promise.all([groups.note('ann', ['ops']), groups.note('ann', [])]);
    expect(groups.of('ann')).toEqual([]);
  });

  test('cost a write only when they change, or are an hour old', async () => {
    for (const names of [
      ['b', 'a'],
      ['a', 'b'],
      ['a', 'b', 'a'],
    ])
      await groups.note('ann', names);
    await groups.note('bob', []);
    // The first write looks for an object to change, and then adds one.
    expect(store.writes).toBe(2);
    clock.advance(HOUR_MS);
    await groups.note('ann', ['a', 'b']);
    await groups.note('ann', ['a', 'b']);
    expect([store.writes, groups.find('ann')?.at]).toEqual([3, '2026-01-01T01:00:00.000Z']);
  });

  test('do not count while the clock is set back to before the login, and are recorded again', async () => {
    await groups.record('ann', ['ops']);
    clock.advance(-HOUR_MS);
    expect(groups.of('ann')).toEqual([]);
    await groups.note('ann', ['ops']);
    expect(groups.find('ann')).toMatchObject({ groups: ['ops'], at: '2025-12-31T23:00:00.000Z' });
    // The clock of another replica may be a little ahead.
    clock.advance(-60_000);
    expect(groups.of('ann')).toEqual(['ops']);
  });

  test('are forgotten on request, and of one user only', async () => {
    await groups.record('ann', ['ops']);
    await groups.record('anna', ['ops']);
    await groups.forget('Ann');
    expect([groups.of('ann'), groups.of('anna')]).toEqual([[], ['ops']]);
    await groups.forget('bob');
  });

  test('are neither read nor written with 0 days', async () => {
    await groups.record('ann', ['ops']);
    const off = open(0);
    await off.record('bob', ['ops']);
    await off.note('bob', ['ops']);
    expect([off.of('ann'), off.find('ann'), store.all().length]).toEqual([[], undefined, 1]);
  });

  test('are limited in number and length', async () => {
    await groups.record(
      'ann',
      Array.from({ length: 3_000 }, (_, index) => `group-${index}`),
    );
    await groups.record('bob', ['a'.repeat(60_000), 'b'.repeat(60_000), 'c']);
    expect([groups.of('ann').length, groups.of('bob').map(({ length }) => length)]).toEqual([1_000, [60_000]]);
  });

  test('of thousands of users make room: first those that have expired, then the oldest', async () => {
    const user = (index: number, at: string): UserGroups => ({ login: `user-${index}`, groups: ['ops'], at });
    for (let index = 0; index < MAX_USERS_WITH_GROUPS; index++)
      await store.put(user(index, index === 7 ? '2025-12-31T00:00:00.000Z' : '2025-12-31T01:00:00.000Z'));
    await store.put(user(9, '2025-12-01T00:00:00.000Z'));
    await groups.record('ann', ['ops']);
    expect([store.get('user-9'), store.get('user-7')?.login]).toEqual([undefined, 'user-7']);
    await groups.record('bob', ['ops']);
    expect([store.get('user-7'), store.all().length]).toEqual([undefined, MAX_USERS_WITH_GROUPS]);
    expect([groups.of('ann'), groups.of('bob'), groups.of('user-8')]).toEqual([['ops'], ['ops'], ['ops']]);
  });

  test('do not fail a request through a proxy when they can not be written, but a login', async () => {
    store.failure = new DomainError('NOT_READY', 'The disk is full.');
    await groups.note('ann', ['ops']);
    expect([groups.of('ann'), warnings]).toEqual([[], ['the groups of a user could not be recorded']]);
    await expect(groups.record('ann', ['ops'])).rejects.toThrow('The disk is full.');
    store.failure = undefined;
    await groups.note('ann', ['ops']);
    expect(groups.of('ann')).toEqual(['ops']);
  });

  test('report when they change and when they end, and not when they stay', async () => {
    let reports = 0;
    groups.subscribe(() => reports++);
    await groups.record('ann', ['ops']);
    expect(groups.of('ann')).toBe(groups.of('ann'));
    clock.advance(HOUR_MS);
    await groups.record('ann', ['ops']);
    expect(reports).toBe(1);
    clock.advance(7 * DAY_MS);
    expect([reports, groups.of('ann')]).toEqual([2, []]);
    await groups.record('ann', ['dev']);
    await groups.forget('ann');
    expect(reports).toBe(4);
    await groups.record('ann', ['dev']);
    groups.of('ann');
    groups.close();
    groups.of('ann');
    expect(clock.pending).toBe(0);
  });

  test('give a user who is not present the roles of the group, until they end', async () => {
    const roles = new Roles([
      { group: 'Öps', folder: '/', role: 'operator' },
      { group: "x'; --", folder: '/', role: 'admin' },
    ]);
    const rights = new UserRights([], roles).of({ login: 'ann', groups: () => groups.of('ann') });
    expect(rights.allowsAll('power')).toBe(false);
    await groups.record('ann', ['öPS']);
    expect([rights.allowsAll('power'), rights.allowsAll('manage')]).toEqual([true, false]);
    await groups.record('ann', ["X'; --"]);
    expect(rights.allowsAll('manage')).toBe(true);
    clock.advance(7 * DAY_MS);
    expect([rights.allowsAll('manage'), rights.allowsAll('read')]).toEqual([false, false]);
  });
});
