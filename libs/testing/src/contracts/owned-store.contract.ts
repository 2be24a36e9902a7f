import type {
  OwnedObject,
  OwnedStore,
  SavedView,
  SavedViewStore,
  SshKey,
  SshKeyStore,
} from '@headgate/domain-contracts';

export interface OwnedStoreHarness<Store> {
  readonly store: Store;
  /** The same storage after a restart, or another replica. */
  reopen(): Store | Promise<Store>;
  close(): void | Promise<void>;
}

type OpenStore<Store> = () => OwnedStoreHarness<Store> | Promise<OwnedStoreHarness<Store>>;

/** An object of a kind. Those with lower places are first. */
type Build<T> = (owner: string, id: string, place?: number) => T;

const sshKey: Build<SshKey> = (owner, id, place = 0) => ({
  owner,
  id: id.repeat(64),
  name: `key-${place}`,
  key: `ssh-ed25519 AAAA${id}`,
  addedAt: '2026-01-02T00:00:00.000Z',
});

const savedView: Build<SavedView> = (owner, id, place = 0) => ({
  owner,
  id: id.repeat(32),
  name: `View ${id} "ü"`,
  address: `/vms?q=${id}%20status%3Arunning`,
  columns: place === 0 ? null : ['name', 'folder'],
  rank: place,
  savedAt: '2026-01-02T00:00:00.000Z',
});

/** The rules for every store of the objects of users. */
function ownedStoreContract<T extends OwnedObject>(
  title: string,
  open: OpenStore<OwnedStore<T>>,
  build: Build<T>,
): void {
  describe(title, () => {
    let harness: OwnedStoreHarness<OwnedStore<T>>;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness?.close());

    test('keeps the objects of each owner, in their order', async () => {
      const { store } = harness;
      const [first, second] = [build('ann', 'b', 1), build('ann', 'a', 2)];
      for (const one of [second, first, build('', 'a'), build('bob/x', 'a')]) await store.put(one);
      const again = await harness.reopen();
      expect(again.of('ann')).toEqual([first, second]);
      expect([again.of(''), again.of('bob/x'), again.of('eve')]).toEqual([[build('', 'a')], [build('bob/x', 'a')], []]);
      expect(again.count()).toBe(4);
    });

    test('has an object of one owner once', async () => {
      await harness.store.put(build('ann', 'a', 1));
      await harness.store.put(build('ann', 'a', 2));
      expect(harness.store.of('ann')).toEqual([build('ann', 'a', 2)]);
      expect((await harness.reopen()).of('ann')).toEqual([build('ann', 'a', 2)]);
    });

    test('deletes one object of one owner, and reports whether it existed', async () => {
      const { store } = harness;
      for (const owner of ['ann', 'bob']) await store.put(build(owner, 'a'));
      const { id } = build('', 'a');
      expect([await store.delete('ann', id), await store.delete('ann', id)]).toEqual([true, false]);
      const again = await harness.reopen();
      expect([again.of('ann').length, again.of('bob').length]).toEqual([0, 1]);
    });
  });
}

/** The rules for every `SshKeyStore`. */
export const sshKeyStoreContract = (adapter: string, open: OpenStore<SshKeyStore>): void =>
  ownedStoreContract(`SshKeyStore, ${adapter}`, open, sshKey);

/** The rules for every `SavedViewStore`. */
export const savedViewStoreContract = (adapter: string, open: OpenStore<SavedViewStore>): void =>
  ownedStoreContract(`SavedViewStore, ${adapter}`, open, savedView);
