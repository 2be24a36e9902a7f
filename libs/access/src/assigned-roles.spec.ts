import {
  Audit,
  foldName,
  type Caller,
  type Role,
  type RoleAssignment,
  type RoleScope,
  type RoleSubject,
} from '@headgate/domain-contracts';
import { buildVm, FixedClock, MemoryAuditLog, MemoryRoleStore } from '@headgate/testing';
import { AssignRole } from './assign-role.js';
import { BoundGrant } from './bound-grant.js';
import { ChangeRole } from './change-role.js';
import { RemoveRole } from './remove-role.js';
import { RoleAdministration } from './role-administration.js';
import { Roles, type RoleEntry, type RolePlaces } from './roles.js';
import { UserRights } from './user-rights.js';

const web = { instance: buildVm({ ref: { context: 'lab', name: 'web' } }), folder: 'prod/web' };
const db = { instance: buildVm({ ref: { context: 'other', name: 'db' } }), folder: 'test' };

/** Folders and contexts by their IDs. */
class Places implements RolePlaces {
  readonly folders = new Map([
    ['prod', 'f1'],
    ['test', 'f2'],
  ]);
  readonly contexts = new Map([['lab', 'configured']]);
  private readonly listeners = new Set<() => void>();

  idOf(path: string): string | undefined {
    return this.folders.get(path);
  }

  pathOf(id: string): string | undefined {
    return [...this.folders].find(([, one]) => one === id)?.[0];
  }

  contextIdOf(name: string): string {
    return this.contexts.get(name) ?? 'configured';
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  change(act: () => void): void {
    act();
    for (const listener of this.listeners) listener();
  }
}

function world({ admins = [], entries = [] }: { admins?: readonly string[]; entries?: readonly RoleEntry[] } = {}) {
  const store = new MemoryRoleStore();
  const places = new Places();
  const clock = new FixedClock();
  const roles = new Roles(entries, store, places);
  const rights = new UserRights(admins, roles);
  const log = new MemoryAuditLog();
  const hasContext = (name: string): boolean => places.contexts.has(name);
  const administration = new RoleAdministration({
    store,
    rights,
    places,
    hasContext,
    clock,
    audit: new Audit(log, clock),
  });
  const callerOf = (login: string, groups: readonly string[] = []): Caller => ({
    login,
    name: '',
    groups,
    grant: new BoundGrant(rights.of({ login, groups }), () => undefined),
  });
  const assign = (
    subject: RoleSubject,
    role: Role,
    scope: RoleScope = {},
    by = callerOf('ann'),
  ): Promise<RoleAssignment> => new AssignRole(administration).run({ subject, role, scope }, by, by);
  const remove = ({ id }: Pick<RoleAssignment, 'id'>, by = callerOf('ann')): Promise<void> =>
    new RemoveRole(administration).run(id, by, by);
  const change = ({ id }: Pick<RoleAssignment, 'id'>, role: Role, version?: number, by = callerOf('ann')) =>
    new ChangeRole(administration).run(id, { role, version }, by, by);
  return { store, places, roles, rights, log, assign, remove, change, callerOf };
}

describe('an assigned role', () => {
  test('holds at once for callers who are here already, and not longer than it exists', async () => {
    const { assign, remove, callerOf } = world({ admins: ['ann'] });
    const bob = callerOf('bob').grant;
    expect([bob.kind, bob.allows('read', db)]).toEqual(['reader', true]);
    const role = await assign({ user: 'bob' }, 'operator', { folder: 'prod' });
    await assign({ user: 'eve' }, 'viewer');
    expect([bob.kind, bob.allows('power', web), bob.allows('read', db)]).toEqual(['role', true, false]);
    await remove(role);
    expect([bob.kind, bob.allows('read', web), bob.readsShared]).toEqual(['role', false, false]);
  });

  test('follows its folder to another path, ends with it, and is not that of another folder of the path', async () => {
    const { assign, places, callerOf } = world({ admins: ['ann'] });
    await assign({ user: 'bob' }, 'admin', { folder: 'prod' });
    const { grant } = callerOf('bob');
    places.change(() => places.folders.delete('prod') && places.folders.set('live', 'f1').set('prod', 'f9'));
    expect([grant.allowsFolder('delete', 'prod'), grant.allowsFolder('delete', 'live/web')]).toEqual([false, true]);
    places.change(() => places.folders.delete('live'));
    expect([grant.allowsFolder('read', 'live'), grant.allowsFolder('read', 'prod'), grant.readsShared]).toEqual([
      false,
      false,
      false,
    ]);
    places.change(() => places.folders.set('live', 'f10'));
    expect(grant.allowsFolder('read', 'live')).toBe(false);
  });

  test.each(['ab', 'a-b', 'b', 'aa/b', 'A', 'a '])('in the folder a is none in %j', async (path) => {
    const { assign, places, callerOf } = world({ admins: ['ann'] });
    places.folders.set('a', 'f7');
    await assign({ user: 'bob' }, 'admin', { folder: 'a' });
    const { grant } = callerOf('bob');
    expect([grant.allowsFolder('create', path), grant.allowsFolder('create', 'a/b')]).toEqual([false, true]);
  });

  test('in a context is for its instances in any folder or none, for nothing else, and not for another context', async () => {
    const { assign, places, callerOf } = world({ admins: ['ann'] });
    places.contexts.set('lab', 'added 1');
    await assign({ user: 'bob' }, 'admin', { context: 'lab' });
    const { grant } = callerOf('bob');
    expect([grant.allows('delete', web), grant.allows('delete', { instance: web.instance })]).toEqual([true, true]);
    expect([grant.allows('read', db), grant.allowsFolder('read', 'prod'), grant.allowsAll('read')]).toEqual([
      false,
      false,
      false,
    ]);
    places.change(() => places.contexts.set('lab', 'added 2'));
    expect([grant.allows('read', web), grant.readsShared]).toEqual([false, false]);
  });

  test('of a group is for its members, and for no user with its name', async () => {
    const { assign, callerOf } = world({ admins: ['ann'] });
    await assign({ group: 'Staff' }, 'viewer', { folder: 'prod' });
    const reads = (login: string, groups?: string[]) => callerOf(login, groups).grant.allows('read', web);
    expect([reads('bob', ['staff']), reads('bob', ['STAFF', 'x'])]).toEqual([true, true]);
    expect([reads('staff'), reads('Staff', ['other']), reads('bob', ['staff '])]).toEqual([false, false, false]);
    // The groups of a caller without a login are not those of a user.
    expect(reads('', ['staff'])).toBe(false);
    await assign({ user: 'team' }, 'viewer', { folder: 'prod' });
    expect(reads('bob', ['team'])).toBe(false);
  });

  test.each([
    ['Ann', 'ann', true],
    ['ÄRA', 'ära', true],
    // The Kelvin sign, whose lower case is k.
    ['\u212Aate', 'kate', false],
    // A dotless and a dotted i, a Cyrillic a.
    ['ADM\u0130N', 'admin', false],
    ['adm\u0131n', 'admin', false],
    ['\u0430nn', 'ann', false],
    ['ann\u200B', 'ann', false],
    ['ann ', 'ann', false],
    ['e\u0301va', '\u00e9va', false],
  ])('of %j is that of %j: %p', async (login, assigned, isSame) => {
    const { assign, callerOf } = world({ admins: ['root'] });
    await assign({ user: assigned }, 'viewer', {}, callerOf('root'));
    expect(callerOf(login).grant.allowsAll('read')).toBe(isSame);
    expect(foldName(login) === foldName(assigned)).toBe(isSame);
  });

  test.each([
    [{ user: '' }, 'subject.user'],
    [{ user: ' ann' }, 'subject.user'],
    [{ user: 'a\u0000b' }, 'subject.user'],
    [{ user: 'a\u202Eb' }, 'invisible'],
    [{ group: 'a\u200Bb' }, 'subject.group'],
    [{ user: 'bob,ann' }, 'comma'],
    [{ group: 'x'.repeat(257) }, '256'],
    [{ user: '\uD800' }, 'subject.user'],
  ])('is refused for %j', async (subject, problem) => {
    const { assign, store } = world({ admins: ['ann'] });
    await expect(assign(subject, 'viewer')).rejects.toThrow(problem);
    expect(store.all()).toEqual([]);
  });

  test('is refused for a folder or context that does not exist, and twice for one place', async () => {
    const { assign } = world({ admins: ['ann'] });
    await expect(assign({ user: 'bob' }, 'viewer', { folder: 'none' })).rejects.toMatchObject({
      code: 'FOLDER_NOT_FOUND',
    });
    await expect(assign({ user: 'bob' }, 'viewer', { context: 'no' })).rejects.toMatchObject({
      code: 'CONTEXT_NOT_FOUND',
    });
    await assign({ user: 'bob' }, 'viewer', { folder: 'prod' });
    await expect(assign({ user: 'BOB' }, 'admin', { folder: 'prod' })).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
  });
});

describe('changes of roles', () => {
  test('are recorded, also those that are refused', async () => {
    const { assign, change, remove, log } = world({ admins: ['ann'] });
    const role = await assign({ user: 'bob' }, 'viewer', { folder: 'prod' });
    await assign({ group: 'staff' }, 'viewer');
    await change(role, 'admin');
    await remove(role);
    await expect(assign({ user: '' }, 'viewer')).rejects.toThrow();
    expect(log.entries.map(({ action, ref, outcome }) => [action, ref, outcome])).toEqual([
      ['assign role', 'role/user/bob', 'ok'],
      ['assign role', 'role/group/staff', 'ok'],
      ['change role', 'role/user/bob', 'ok'],
      ['remove role', 'role/user/bob', 'ok'],
      ['assign role', 'role/user/', 'error'],
    ]);
  });

  test('switch roles on only for a caller who stays an administrator', async () => {
    const { assign, rights, callerOf } = world();
    await expect(assign({ user: 'bob' }, 'viewer')).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(assign({ user: 'bob' }, 'admin')).rejects.toThrow('Assign ann the role admin everywhere first');
    await expect(assign({ user: 'bob' }, 'admin', {}, callerOf(''))).rejects.toThrow('You have no login');
    expect(rights.enforced).toBe(false);
    await assign({ user: 'ann' }, 'admin');
    expect([rights.enforced, callerOf('bob').grant.allowsAll('read')]).toEqual([true, false]);
  });

  test('keep an administrator, and a role', async () => {
    const { assign, remove, change, rights, callerOf } = world();
    const role = await assign({ user: 'ann' }, 'admin');
    await expect(remove(role)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(change(role, 'operator')).rejects.toThrow('No user would be an administrator');
    // A group may be empty.
    const group = await assign({ group: 'root' }, 'admin');
    await expect(remove(role)).rejects.toThrow('No user would be an administrator');
    // This caller proves that it is not.
    await remove(role, callerOf('zoe', ['root']));
    await expect(remove(group, callerOf('zoe', ['root']))).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(rights.isAdmin({ login: 'zoe', groups: ['root'] })).toBe(true);
  });

  test('do not switch roles off, which would let all users read everything', async () => {
    const { assign, remove, callerOf } = world({ admins: ['ann'] });
    const role = await assign({ user: 'bob' }, 'viewer', { folder: 'prod' });
    await expect(remove(role)).rejects.toThrow('the last role');
    expect(callerOf('bob').grant.allows('read', db)).toBe(false);
  });

  test('of two administrators who remove each other leave one of them', async () => {
    const { assign, remove, store, callerOf } = world();
    const ann = await assign({ user: 'ann' }, 'admin');
    const bob = await assign({ user: 'bob' }, 'admin');
    const [first, second] = await Promise.allSettled([remove(ann, callerOf('bob')), remove(bob, callerOf('ann'))]);
    expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
    expect(second).toMatchObject({ reason: { code: 'NOT_PERMITTED' } });
    expect(store.all()).toHaveLength(1);
  });

  test('of two administrators to one role: the later one is refused if it names the version', async () => {
    const { assign, change, store } = world({ admins: ['ann'] });
    const role = await assign({ user: 'bob' }, 'viewer');
    const results = await Promise.allSettled([change(role, 'operator', 1), change(role, 'admin', 1)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(store.all()).toMatchObject([{ role: 'operator', version: 2 }]);
  });

  test('are refused for a role of the configuration, and for one that does not exist', async () => {
    const { remove, change, roles } = world({
      admins: ['ann'],
      entries: [{ login: 'bob', folder: 'prod', role: 'viewer' }],
    });
    const [configured] = roles.all();
    const id = configured?.id ?? '';
    expect(configured).toMatchObject({ source: 'configuration', subject: { user: 'bob' } });
    await expect(remove({ id })).rejects.toThrow('in the configuration file');
    await expect(change({ id }, 'admin')).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(remove({ id: 'none' })).rejects.toMatchObject({ code: 'ROLE_NOT_FOUND' });
  });

  test('that can not be stored change nothing', async () => {
    const { assign, store, callerOf } = world({ admins: ['ann'] });
    store.add = () => Promise.reject(new Error('disk full'));
    await expect(assign({ user: 'bob' }, 'admin')).rejects.toThrow('disk full');
    expect(callerOf('bob').grant.kind).toBe('reader');
  });
});

describe('ten thousand roles', () => {
  test('cost a decision no more than a few: the store is read once, and no other role is looked at', async () => {
    const { store, roles, places, callerOf } = world({ admins: ['ann'] });
    for (let index = 0; index < 10_000; index++)
      await store.add({
        id: `r${index}`,
        subject: index % 2 === 0 ? { user: `user-${index}` } : { group: `group-${index}` },
        role: 'viewer',
        scope: { folder: 'prod' },
        place: `f${index}`,
        createdAt: '2026-01-01T00:00:00.000Z',
        createdBy: 'ann',
        version: 1,
      });
    const looks = { count: 0 };
    const { pathOf } = places;
    places.pathOf = (id) => {
      looks.count++;
      return pathOf.call(places, id);
    };
    store.reads = 0;
    const { grant } = callerOf('user-2', ['group-1', 'group-3']);
    const elsewhere = { instance: web.instance, folder: 'elsewhere' };
    for (let round = 0; round < 1000; round++) grant.allows('read', elsewhere);
    expect([store.reads, looks.count]).toEqual([1, 3000]);
    expect(roles.of({ login: 'user-2' }).allowsFolder('read', 'test')).toBe(true);
  });
});

describe('a store that does not answer', () => {
  test('allows nothing', async () => {
    const { store, assign, callerOf } = world({ admins: ['ann'] });
    await assign({ user: 'bob' }, 'admin', { folder: 'prod' });
    const { grant } = callerOf('bob');
    store.expectCurrent = () => {
      throw new Error('cut off');
    };
    expect(() => grant.allows('read', web)).toThrow('cut off');
    // The allowlist of the configuration needs no store.
    expect(callerOf('ann').grant.allowsAll('manage')).toBe(true);
  });
});
