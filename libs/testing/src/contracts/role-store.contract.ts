import type { RoleAssignment, RoleStore } from '@headgate/domain-contracts';
import { untilSeen, type SharedStoreHarness } from './shared-store.js';

export interface RoleStoreHarness {
  readonly store: RoleStore;
  /** The same storage after a restart. */
  reopen(): RoleStore | Promise<RoleStore>;
  close(): void | Promise<void>;
}

const role = (id: string, overrides: Partial<RoleAssignment> = {}): RoleAssignment => ({
  id,
  subject: { user: `${id}'; DROP TABLE role_assignment --@example.org` },
  role: 'operator',
  scope: { folder: 'prod/web' },
  place: 'folder-1',
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'ann',
  version: 1,
  ...overrides,
});

/** The rules for every `RoleStore`. */
export function roleStoreContract(adapter: string, open: () => RoleStoreHarness | Promise<RoleStoreHarness>): void {
  describe(`RoleStore, ${adapter}`, () => {
    let harness: RoleStoreHarness;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness?.close());

    test('keeps assignments in the order of their creation', async () => {
      const younger = role('a', { createdAt: '2026-01-02T00:00:00.000Z', subject: { group: 'x,y' } });
      const older = role('b', { scope: {}, place: '', createdBy: '' });
      await harness.store.add(younger);
      await harness.store.add(older);
      expect(harness.store.all()).toEqual([older, younger]);
      expect((await harness.reopen()).all()).toEqual([older, younger]);
    });

    test('gives a subject one role in a place, whatever the case of its name', async () => {
      await harness.store.add(role('a', { subject: { user: 'Bob' } }));
      const refused = harness.store.add(role('b', { subject: { user: 'bOB' }, role: 'admin' }));
      await expect(refused).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      await harness.store.add(role('c', { subject: { group: 'bob' } }));
      await harness.store.add(role('d', { subject: { user: 'bob' }, place: 'folder-2' }));
      await harness.store.add(role('e', { subject: { user: 'bob' }, scope: { context: 'lab' } }));
      await harness.store.add(role('f', { subject: { user: 'bob' }, scope: {}, place: '' }));
      expect(harness.store.all().map(({ id }) => id)).toEqual(['a', 'c', 'd', 'e', 'f']);
    });

    test('replaces the version before only, and none that is gone', async () => {
      await harness.store.add(role('a'));
      const changed = role('a', { role: 'viewer', version: 2 });
      expect(await harness.store.replace(changed)).toBe(true);
      expect(await harness.store.replace(role('a', { role: 'admin', version: 2 }))).toBe(false);
      expect(await harness.store.replace(role('gone', { version: 2 }))).toBe(false);
      expect((await harness.reopen()).all()).toEqual([changed]);
    });

    test('deletes one and reports whether it existed', async () => {
      await harness.store.add(role('a'));
      await harness.store.add(role('b'));
      expect([await harness.store.delete('a'), await harness.store.delete('a')]).toEqual([true, false]);
      expect((await harness.reopen()).all()).toEqual([role('b')]);
      await harness.store.add(role('c', { subject: role('a').subject }));
      expect(harness.store.all()).toHaveLength(2);
    });

    test('reports changes until the listener leaves, when they can be read', async () => {
      const seen: number[] = [];
      const leave = harness.store.subscribe(() => void seen.push(harness.store.all().length));
      await harness.store.add(role('a'));
      await harness.store.replace(role('a', { version: 2 }));
      await harness.store.delete('a');
      leave();
      const { length } = seen;
      await harness.store.add(role('b'));
      expect([seen.at(0), seen.at(-1), seen.length]).toEqual([1, 0, length]);
    });
  });
}

/** The rules for every `RoleStore` that several replicas use, besides the others. */
export function sharedRoleStoreContract(
  adapter: string,
  open: () => SharedStoreHarness<RoleStore> | Promise<SharedStoreHarness<RoleStore>>,
): void {
  describe(`RoleStore of several replicas, ${adapter}`, () => {
    let harness: SharedStoreHarness<RoleStore>;
    let a: RoleStore;
    let b: RoleStore;

    beforeEach(async () => {
      harness = await open();
      [a, b] = [await harness.join('a'), await harness.join('b')];
    });
    afterEach(() => harness?.close());

    test('shows an assignment to the other replicas until one of them deletes it', async () => {
      let reports = 0;
      b.subscribe(() => reports++);
      await a.add(role('a'));
      await untilSeen(b, () => b.all().length === 1);
      expect([b.all(), reports > 0]).toEqual([[role('a')], true]);
      expect(await b.delete('a')).toBe(true);
      await untilSeen(a, () => a.all().length === 0);
      expect(await a.delete('a')).toBe(false);
    });

    test('lets one of two changes win', async () => {
      await a.add(role('a'));
      await untilSeen(b, () => b.all().length === 1);
      const changed = await Promise.all([
        a.replace(role('a', { role: 'viewer', version: 2 })),
        b.replace(role('a', { role: 'admin', version: 2 })),
      ]);
      expect([...changed].sort()).toEqual([false, true]);
      const [stored] = (await harness.join('c')).all();
      expect([stored?.version, stored?.role]).toEqual([2, changed[0] ? 'viewer' : 'admin']);
    });

    test('does not bring a deleted one back when it is changed', async () => {
      await a.add(role('a'));
      await untilSeen(b, () => b.all().length === 1);
      await Promise.all([a.delete('a'), b.replace(role('a', { version: 2 }))]);
      await untilSeen(b, () => b.all().length === 0);
      expect([a.all(), b.all(), (await harness.join('c')).all()]).toEqual([[], [], []]);
    });

    test('gives a subject one role in a place', async () => {
      const { subject } = role('a');
      const added = await Promise.allSettled([a.add(role('a')), b.add(role('b', { subject, role: 'admin' }))]);
      expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect((await harness.join('c')).all()).toHaveLength(1);
    });
  });
}
