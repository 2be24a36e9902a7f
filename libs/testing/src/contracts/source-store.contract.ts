import type { CustomSource, SourceStore } from '@headgate/domain-contracts';

export interface SourceStoreHarness {
  readonly store: SourceStore;
  /** The same storage after a restart. */
  reopen(): SourceStore | Promise<SourceStore>;
  close(): void | Promise<void>;
}

const debian: CustomSource = {
  name: 'debian',
  kind: 'url',
  uri: 'https://example.org/debian.qcow2',
  description: 'Bob\'s "golden" image; DROP TABLE source',
};

/** The rules for every `SourceStore`. */
export function sourceStoreContract(
  adapter: string,
  open: () => SourceStoreHarness | Promise<SourceStoreHarness>,
): void {
  describe(`SourceStore, ${adapter}`, () => {
    let harness: SourceStoreHarness;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness?.close());

    test('keeps sources, sorted by name', async () => {
      const alpine: CustomSource = { name: 'alpine', kind: 'iso', uri: 'https://example.org/a.iso', description: '' };
      await harness.store.put(debian);
      await harness.store.put(alpine);
      const again = await harness.reopen();
      expect(again.all()).toEqual([alpine, debian]);
      expect(again.get('debian')).toEqual(debian);
      expect(again.get('none')).toBeUndefined();
    });

    test('replaces the source of the same name, and no other', async () => {
      await harness.store.put(debian);
      await harness.store.put({ ...debian, name: 'debian-2' });
      await harness.store.put({ ...debian, kind: 'containerDisk', uri: 'registry.example.org/debian:13' });
      expect(harness.store.all().map(({ name, kind }) => [name, kind])).toEqual([
        ['debian', 'containerDisk'],
        ['debian-2', 'url'],
      ]);
    });

    test('deletes one source and reports whether it existed', async () => {
      await harness.store.put(debian);
      await harness.store.put({ ...debian, name: 'debian-2' });
      expect([await harness.store.delete('debian'), await harness.store.delete('debian')]).toEqual([true, false]);
      expect((await harness.reopen()).all().map(({ name }) => name)).toEqual(['debian-2']);
    });
  });
}
