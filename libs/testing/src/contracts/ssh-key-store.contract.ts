import type { SshKey, SshKeyStore } from '@headgate/domain-contracts';

export interface SshKeyStoreHarness {
  readonly store: SshKeyStore;
  /** The same storage after a restart, or another replica. */
  reopen(): SshKeyStore | Promise<SshKeyStore>;
  close(): void | Promise<void>;
}

const key = (owner: string, id: string, name = id): SshKey => ({
  owner,
  id: id.repeat(64),
  name,
  key: `ssh-ed25519 AAAA${id}`,
  addedAt: '2026-01-02T00:00:00.000Z',
});

/** The rules for every `SshKeyStore`. */
export function sshKeyStoreContract(
  adapter: string,
  open: () => SshKeyStoreHarness | Promise<SshKeyStoreHarness>,
): void {
  describe(`SshKeyStore, ${adapter}`, () => {
    let harness: SshKeyStoreHarness;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness?.close());

    test('keeps the keys of each owner, by name', async () => {
      const { store } = harness;
      for (const one of [key('ann', 'b', 'laptop'), key('ann', 'a', 'phone'), key('', 'a'), key('bob/x', 'a')])
        await store.put(one);
      const again = await harness.reopen();
      expect(again.of('ann')).toEqual([key('ann', 'b', 'laptop'), key('ann', 'a', 'phone')]);
      expect([again.of(''), again.of('bob/x'), again.of('eve')]).toEqual([[key('', 'a')], [key('bob/x', 'a')], []]);
      expect(again.count()).toBe(4);
    });

    test('has a key of one owner once', async () => {
      await harness.store.put(key('ann', 'a', 'old'));
      await harness.store.put(key('ann', 'a', 'new'));
      expect(harness.store.of('ann').map(({ name }) => name)).toEqual(['new']);
    });

    test('deletes one key of one owner, and reports whether it existed', async () => {
      const { store } = harness;
      for (const owner of ['ann', 'bob']) await store.put(key(owner, 'a'));
      expect([await store.delete('ann', key('', 'a').id), await store.delete('ann', key('', 'a').id)]).toEqual([
        true,
        false,
      ]);
      const again = await harness.reopen();
      expect([again.of('ann').length, again.of('bob').length]).toEqual([0, 1]);
    });
  });
}
