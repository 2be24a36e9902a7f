import type {
  Account,
  AccountStore,
  DeviceLogin,
  DeviceLoginStore,
  LoginSession,
  LoginSessionStore,
  LoginStore,
} from '@headgate/domain-contracts';

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
  name: 'Ann "ü"',
  isAdmin: true,
  isDisabled: false,
  setup: { hash: 'b'.repeat(64), expiresAt: '2026-01-02T00:00:00.000Z' },
  recovery: ['c'.repeat(64)],
  createdAt: '2026-01-01T00:00:00.000Z',
  changedAt: '2026-01-01T00:00:00.000Z',
});

const deviceLogin = (id: string): DeviceLogin => ({
  id,
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
  storeContract(`DeviceLoginStore, ${adapter}`, open, deviceLogin, (one) => ({
    ...one,
    decision: { id: 'random', isApproved: true, login: 'corp:ann', name: 'Änn', groups: ['ops', 'a,b'] },
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
      expect([again.get('a'), again.get('none')]).toEqual([build('a'), undefined]);
    });

    test('replaces an object of the same key', async () => {
      await harness.store.put(build('a'));
      await harness.store.put(changed(build('a')));
      expect((await harness.reopen()).all()).toEqual([changed(build('a'))]);
    });

    test('changes one object, and none that is gone or is to stay', async () => {
      await harness.store.put(build('a'));
      await harness.store.put(build('b'));
      expect(await harness.store.change('a', changed)).toEqual(changed(build('a')));
      expect(await harness.store.change('b', () => undefined)).toEqual(build('b'));
      expect(await harness.store.change('gone', changed)).toBeUndefined();
      expect((await harness.reopen()).all()).toEqual([changed(build('a')), build('b')]);
    });

    test('deletes one object and reports whether it existed', async () => {
      await harness.store.put(build('a'));
      await harness.store.put(build('b'));
      expect([await harness.store.delete('a'), await harness.store.delete('a')]).toEqual([true, false]);
      expect((await harness.reopen()).all()).toEqual([build('b')]);
    });
  });
}
