import type { FolderDelta, FolderStore } from '@headgate/domain-contracts';

export interface FolderStoreHarness {
  readonly store: FolderStore;
  /** A second view of the same storage: after a restart, or in another replica. */
  reopen(): FolderStore | Promise<FolderStore>;
  close(): void | Promise<void>;
}

const delta = (change: Partial<FolderDelta>): FolderDelta => ({
  removed: [],
  renamed: [],
  created: [],
  assigned: [],
  ...change,
});

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const web = { ref: WEB, uid: 'uid-web' };
const db = { ref: DB, uid: 'uid-db' };

/** The rules for every `FolderStore`. */
export function folderStoreContract(
  adapter: string,
  open: () => FolderStoreHarness | Promise<FolderStoreHarness>,
): void {
  describe(`FolderStore, ${adapter}`, () => {
    let harness: FolderStoreHarness;
    let version: string;

    beforeEach(async () => {
      harness = await open();
      ({ version } = await harness.store.read());
    });
    afterEach(() => harness?.close());

    const commit = async (change: Partial<FolderDelta>): Promise<void> => {
      version = await harness.store.commit(version, delta(change));
    };
    const stored = async (): Promise<{ paths: readonly string[]; members: Record<string, string> }> => {
      const { paths, members } = await (await harness.reopen()).read();
      return {
        paths: [...paths].sort(),
        members: Object.fromEntries(members.map(({ ref, path }) => [ref, path])),
      };
    };

    test('begins empty', async () => {
      expect(await stored()).toEqual({ paths: [], members: {} });
    });

    test('keeps folders and members', async () => {
      await commit({ created: ['prod', 'prod/web'], assigned: [{ ...web, path: 'prod/web' }] });
      expect(await stored()).toEqual({ paths: ['prod', 'prod/web'], members: { [WEB]: 'prod/web' } });
    });

    test('gives each folder an ID, which it keeps with another path and no other folder ever gets', async () => {
      await commit({ created: ['a', 'a/b', 'c'] });
      const before = new Map(harness.store.ids());
      expect([...before.keys()].sort()).toEqual(['a', 'a/b', 'c']);
      expect(new Set(before.values()).size).toBe(3);
      await commit({
        renamed: [
          { from: 'a', to: 'c/a' },
          { from: 'a/b', to: 'c/a/b' },
        ],
      });
      await commit({ created: ['a'], removed: [] });
      const renamed = harness.store.ids();
      expect([renamed.get('c/a'), renamed.get('c/a/b')]).toEqual([before.get('a'), before.get('a/b')]);
      expect([...before.values()]).not.toContain(renamed.get('a'));
      await commit({ removed: ['a'] });
      await commit({ created: ['a'] });
      const again = await harness.reopen();
      await again.read();
      expect(again.ids()).toEqual(harness.store.ids());
      expect([...before.values(), renamed.get('a')]).not.toContain(again.ids().get('a'));
    });

    test('moves a member to another folder and out of any', async () => {
      await commit({
        created: ['a', 'b'],
        assigned: [
          { ...web, path: 'a' },
          { ...db, path: 'a' },
        ],
      });
      await commit({ assigned: [{ ...web, path: 'b' }] });
      expect((await stored()).members).toEqual({ [WEB]: 'b', [DB]: 'a' });
      await commit({ assigned: [{ ...db, path: undefined }] });
      expect((await stored()).members).toEqual({ [WEB]: 'b' });
    });

    test('keeps the members of a folder that gets another path', async () => {
      await commit({ created: ['a', 'a/x', 'other'], assigned: [{ ...web, path: 'a/x' }] });
      await commit({
        renamed: [
          { from: 'a', to: 'b' },
          { from: 'a/x', to: 'b/x' },
        ],
      });
      expect(await stored()).toEqual({ paths: ['b', 'b/x', 'other'], members: { [WEB]: 'b/x' } });
    });

    test('removes a folder with its membership, and touches no other folder', async () => {
      await commit({
        created: ['prod', 'production'],
        assigned: [
          { ...web, path: 'prod' },
          { ...db, path: 'production' },
        ],
      });
      await commit({ removed: ['prod'] });
      expect(await stored()).toEqual({ paths: ['production'], members: { [DB]: 'production' } });
    });

    const membersStored = async (): Promise<unknown[]> => {
      const { members } = await (await harness.reopen()).read();
      return members.map(({ ref, uid, path, state }) => [ref, uid, path, state]).sort();
    };

    test('keeps the objects of a ref apart, each with its folder and state', async () => {
      const [another, former] = [
        { ref: WEB, uid: 'uid-another' },
        { ref: WEB, uid: '' },
      ];
      await commit({
        created: ['a', 'b', 'c'],
        assigned: [
          { ...web, path: 'a' },
          { ...another, path: 'b', state: 'ending' },
          { ...former, path: 'c' },
        ],
      });
      expect(await membersStored()).toEqual([
        [WEB, '', 'c', 'member'],
        [WEB, 'uid-another', 'b', 'ending'],
        [WEB, 'uid-web', 'a', 'member'],
      ]);
      await commit({
        assigned: [
          { ...web, path: 'a', state: 'ending' },
          { ...another, path: 'b' },
          { ...former, path: undefined },
        ],
      });
      expect(await membersStored()).toEqual([
        [WEB, 'uid-another', 'b', 'member'],
        [WEB, 'uid-web', 'a', 'ending'],
      ]);
      await commit({ assigned: [{ ...web, path: undefined }] });
      expect(await membersStored()).toEqual([[WEB, 'uid-another', 'b', 'member']]);
    });

    test('keeps a member that is not bound yet, until it is bound', async () => {
      await commit({ created: ['a'], assigned: [{ ref: WEB, uid: '', path: 'a', state: 'unbound' }] });
      expect(await membersStored()).toEqual([[WEB, '', 'a', 'unbound']]);
      await commit({
        assigned: [
          { ref: WEB, uid: '', path: undefined },
          { ...web, path: 'a' },
        ],
      });
      expect(await membersStored()).toEqual([[WEB, 'uid-web', 'a', 'member']]);
    });

    test.each(['a b', "u'; DROP TABLE folder;--", 'ü/%2F%20ending', 'line\nbreak', '-', 'ending', 'x'.repeat(512)])(
      'keeps the ID %j',
      async (uid) => {
        await commit({ created: ['a'], assigned: [{ ref: WEB, uid, path: 'a' }] });
        expect(await membersStored()).toEqual([[WEB, uid, 'a', 'member']]);
        await commit({ assigned: [{ ref: WEB, uid, path: undefined }] });
        expect(await membersStored()).toEqual([]);
      },
    );

    test('refuses a change of another version, and changes nothing', async () => {
      const before = version;
      await commit({ created: ['prod'] });
      await expect(harness.store.commit(before, delta({ created: ['late'] }))).rejects.toMatchObject({
        code: 'CONFLICT',
      });
      expect((await stored()).paths).toEqual(['prod']);
    });

    test('carries out a change completely or not at all', async () => {
      await commit({ created: ['prod'] });
      await expect(
        harness.store.commit(version, delta({ created: ['new'], assigned: [{ ...web, path: 'missing' }] })),
      ).rejects.toThrow();
      expect(await stored()).toEqual({ paths: ['prod'], members: {} });
      await commit({ created: ['next'] });
      expect((await stored()).paths).toEqual(['next', 'prod']);
    });
  });
}
