import type {
  Account,
  AccountStore,
  DeviceLogin,
  DeviceLoginStore,
  LoginSession,
  LoginSessionStore,
  LoginStore,
  UserGroups,
  UserGroupsStore,
} from '@headgate/domain-contracts';
import { untilSeen, type SharedStoreHarness } from './shared-store.js';

export interface LoginStoreHarness<Store> {
  readonly store: Store;
  /** The same storage after a restart. */
  reopen(): Store | Promise<Store>;
  close(): void | Promise<void>;
}

/** Opens an empty store. */
export type OpenLoginStore<Store> = () => LoginStoreHarness<Store> | Promise<LoginStoreHarness<Store>>;

const session = (id: string): LoginSession => ({
  id,
  hash: 'a'.repeat(64),
  login: "bob'; DROP TABLE login_session",
  name: 'Böb',
  groups: ['ops', 'a,b'],
  provider: 'corp',
  idToken: 'header.payload.signature',
  address: '2001:db8::1',
  agent: 'Browser/1.0',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUsedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T12:00:00.000Z',
});

const account = (login: string): Account => ({
  login,
  handle: 'aGFuZGxl',
  passkeys: [
    {
      id: 'aWQ',
      name: 'my "phone"',
      publicKey: 'a2V5',
      counter: 4_294_967_295,
      transports: ['usb', 'internal'],
      isSynced: true,
      createdAt: '2026-01-01T00:00:00.000Z',
      lastUsedAt: '2026-01-01T00:00:00.000Z',
      copiedAt: '2026-01-01T00:00:00.000Z',
    },
  ],
  password: '$scrypt$hash',
  name: 'Ann "ü"',
  isAdmin: true,
  isDisabled: false,
  setup: { hash: 'b'.repeat(64), expiresAt: '2026-01-02T00:00:00.000Z' },
  recovery: ['c'.repeat(64)],
  createdAt: '2026-01-01T00:00:00.000Z',
  changedAt: '2026-01-01T00:00:00.000Z',
});

/** The hash of a device code. */
const deviceKey = (key: string): string => key.charCodeAt(0).toString(16).repeat(32);

const deviceLogin = (key: string): DeviceLogin => ({
  id: deviceKey(key),
  userCode: 'WDJB-MJHT',
  machine: 'laptop-1',
  address: '2001:db8::1',
  actions: ['read', 'power'],
  days: 30,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:10:00.000Z',
});

/** The rules for every `DeviceLoginStore`. */
export const deviceLoginStoreContract = (adapter: string, open: OpenLoginStore<DeviceLoginStore>): void =>
  storeContract(
    `DeviceLoginStore, ${adapter}`,
    open,
    deviceLogin,
    (one) => ({
      ...one,
      decision: { id: 'random', isApproved: true, login: 'corp:ann', name: 'Änn', groups: ['ops', 'a,b'] },
    }),
    deviceKey,
  );

const userGroups = (login: string): UserGroups => ({
  login,
  groups: ['Öps', 'a,b', "x'; DROP TABLE user_groups"],
  at: '2026-01-01T00:00:00.000Z',
});

/** The rules for every `UserGroupsStore`. */
export const userGroupsStoreContract = (adapter: string, open: OpenLoginStore<UserGroupsStore>): void =>
  storeContract(`UserGroupsStore, ${adapter}`, open, userGroups, (one) => ({
    ...one,
    groups: [],
    at: '2026-01-02T00:00:00.000Z',
  }));

/** The rules for every `LoginSessionStore`. */
export const loginSessionStoreContract = (adapter: string, open: OpenLoginStore<LoginSessionStore>): void =>
  storeContract(`LoginSessionStore, ${adapter}`, open, session, (one) => ({ ...one, hash: 'd'.repeat(64) }));

/** The rules for every `AccountStore`. */
export const accountStoreContract = (adapter: string, open: OpenLoginStore<AccountStore>): void =>
  storeContract(`AccountStore, ${adapter}`, open, account, ({ setup: _setup, ...one }) => ({
    ...one,
    isDisabled: true,
    recovery: [],
  }));

function storeContract<T>(
  title: string,
  open: OpenLoginStore<LoginStore<T>>,
  build: (key: string) => T,
  changed: (one: T) => T,
  keyOf = (text: string): string => text,
): void {
  describe(title, () => {
    let harness: LoginStoreHarness<LoginStore<T>>;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    test('keeps objects, in the order of their keys', async () => {
      await harness.store.put(build('b'));
      await harness.store.put(build('a'));
      const again = await harness.reopen();
      expect(again.all()).toEqual([build('a'), build('b')]);
      expect([again.get(keyOf('a')), again.get(keyOf('none'))]).toEqual([build('a'), undefined]);
    });

    test('replaces an object of the same key', async () => {
      await harness.store.put(build('a'));
      await harness.store.put(changed(build('a')));
      expect((await harness.reopen()).all()).toEqual([changed(build('a'))]);
    });

    test('changes one object, and none that is gone or is to stay', async () => {
      await harness.store.put(build('a'));
      await harness.store.put(build('b'));
      expect(await harness.store.change(keyOf('a'), changed)).toEqual(changed(build('a')));
      expect(await harness.store.change(keyOf('b'), () => undefined)).toEqual(build('b'));
      expect(await harness.store.change(keyOf('gone'), changed)).toBeUndefined();
      expect((await harness.reopen()).all()).toEqual([changed(build('a')), build('b')]);
    });

    test('deletes one object and reports whether it existed', async () => {
      await harness.store.put(build('a'));
      await harness.store.put(build('b'));
      expect([await harness.store.delete(keyOf('a')), await harness.store.delete(keyOf('a'))]).toEqual([true, false]);
      expect((await harness.reopen()).all()).toEqual([build('b')]);
    });
  });
}

/** The rules for every login store that replicas share, with sessions as its objects. */
export function sharedLoginStoreContract(
  adapter: string,
  open: () => Promise<SharedStoreHarness<LoginStore<LoginSession>>>,
): void {
  describe(`shared LoginStore, ${adapter}`, () => {
    let harness: SharedStoreHarness<LoginStore<LoginSession>>;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    test('shows the other replicas what one has written and deleted', async () => {
      const [one, other] = [await harness.join('one'), await harness.join('other')];
      await one.put(session('a'));
      await untilSeen(other, () => other.get('a') !== undefined);
      await other.change('a', (stored) => ({ ...stored, lastUsedAt: '2026-01-01T00:01:00.000Z' }));
      await untilSeen(one, () => one.get('a')?.lastUsedAt === '2026-01-01T00:01:00.000Z');
      await one.delete('a');
      await untilSeen(other, () => other.get('a') === undefined);
    });

    test('reads on request what another replica has just written', async () => {
      const [one, other] = [await harness.join('one'), await harness.join('other')];
      await one.put(session('a'));
      await other.reload('a');
      expect(other.get('a')).toEqual(session('a'));
      await one.put(session('b'));
      await other.reload();
      expect(other.all()).toEqual([session('a'), session('b')]);
      await other.reload('none');
      expect(other.get('none')).toBeUndefined();
    });

    test('lets one of two replicas delete an object', async () => {
      const [one, other] = [await harness.join('one'), await harness.join('other')];
      await one.put(session('a'));
      await other.reload('a');
      const deleted = await Promise.all([one.delete('a'), other.delete('a')]);
      expect(deleted.sort()).toEqual([false, true]);
    });

    test('applies the changes of two replicas one after the other', async () => {
      const [one, other] = [await harness.join('one'), await harness.join('other')];
      await one.put(session('a'));
      await other.reload('a');
      const add = (group: string) => (stored: LoginSession) => ({ ...stored, groups: [...stored.groups, group] });
      await Promise.all([one.change('a', add('x')), other.change('a', add('y'))]);
      await Promise.all([one.reload('a'), other.reload('a')]);
      expect(one.get('a')?.groups.toSorted()).toEqual(['a,b', 'ops', 'x', 'y']);
      expect(other.get('a')).toEqual(one.get('a'));
    });
  });
}
