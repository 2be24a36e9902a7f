import {
  DomainError,
  formatRef,
  InstanceDirectory,
  type FolderDelta,
  type Instance,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { buildContainer, buildVm, FixedClock, MemoryFolderStore } from '@headgate/testing';
import { Folders } from './folders.js';
import { SettleMembers } from './settle-members.js';

const UPGRADE = '2026-03-01T12:00:00.000Z';
const BEFORE = '2026-03-01T11:58:59.000Z';
const MINUTE_MS = 60_000;

class KnownInstances extends InstanceDirectory {
  readonly known = new Map<string, Instance>();

  add(instance: Instance): void {
    this.known.set(formatRef(instance.ref), instance);
  }
  override get(ref: InstanceRef): Instance | undefined {
    return this.known.get(formatRef(ref));
  }
  override resolve(): Instance {
    throw new DomainError('INSTANCE_NOT_FOUND', 'unused');
  }
  override async waitFor(): Promise<void> {
    throw new Error('unused');
  }
}

const { createdAt: _none, ...undated } = buildVm({ ref: { context: 'lab', name: 'web' }, uid: 'uid-web' });
const web = { ...undated, createdAt: BEFORE };
const WEB = formatRef(web.ref);
const box = buildContainer({ ref: { context: 'lab', name: 'box' }, uid: 'uid-box', createdAt: BEFORE });

describe('SettleMembers', () => {
  let store: MemoryFolderStore;
  let folders: Folders;
  let instances: KnownInstances;
  let listed: Set<string>;
  let clock: FixedClock;
  let settlement: SettleMembers;

  const open = async (from: MemoryFolderStore): Promise<void> => {
    settlement?.close();
    store = from;
    folders = new Folders(store);
    await folders.load();
    settlement = new SettleMembers({
      folders,
      clock,
      directory: instances,
      isListed: (context) => listed.has(context),
    });
    settlement.open();
  };

  beforeEach(async () => {
    instances = new KnownInstances();
    listed = new Set(['lab']);
    clock = new FixedClock(Date.parse(UPGRADE));
    await open(
      new MemoryFolderStore({ boundSince: UPGRADE, members: { [WEB]: 'prod', [formatRef(box.ref)]: 'prod' } }),
    );
  });
  afterEach(() => settlement.close());

  const settle = async (): Promise<unknown[]> => {
    settlement.settle();
    await stored();
    return stored();
  };
  /** Changes are carried out one after the other, so those that were begun before are complete. */
  const stored = async (): Promise<unknown[]> => {
    for (let turn = 0; turn < 10; turn++) await folders.change((tree) => tree.unchanged());
    const { members } = await store.read();
    return members.map(({ ref, uid, state }) => [ref.split('/')[3], uid, state]).sort();
  };

  test('binds the members of an earlier release to the objects that have their refs', async () => {
    instances.add(web);
    instances.add(box);
    expect(await settle()).toEqual([
      ['box', 'uid-box', 'member'],
      ['web', 'uid-web', 'member'],
    ]);
    expect(folders.folderOf({ ref: WEB, uid: 'uid-web' })).toBe('prod');
  });

  test.each([
    ['that does not exist', undefined],
    ['that was created since', { ...web, createdAt: '2026-03-01T12:00:00.000Z' }],
    ['that may have been created since, by another clock', { ...web, createdAt: '2026-03-01T11:59:00.000Z' }],
  ])('binds none to an instance %s, then or later', async (_title, instance) => {
    if (instance) instances.add(instance);
    expect(await settle()).toContainEqual(['web', '', 'member']);
    instances.add({ ...web, uid: 'uid-later' });
    expect(await settle()).toContainEqual(['web', '', 'member']);
    expect(folders.folderOf({ ref: WEB, uid: 'uid-later' })).toBeUndefined();
  });

  test('leaves those of a context that was not listed, and then binds instances that are older than the upgrade', async () => {
    listed.clear();
    expect(await settle()).toContainEqual(['web', '', 'unbound']);
    clock.advance(24 * 60 * MINUTE_MS);
    listed.add('lab');
    instances.add(web);
    instances.add({ ...box, createdAt: '2026-03-02T11:00:00.000Z' });
    expect(await settle()).toEqual([
      ['box', '', 'member'],
      ['web', 'uid-web', 'member'],
    ]);
  });

  test.each([
    [MINUTE_MS, 'uid-web'],
    [MINUTE_MS + 1, ''],
  ])('binds an instance without a creation time %i ms after the upgrade as %j', async (elapsedMs, uid) => {
    clock.advance(elapsedMs);
    instances.add(undated);
    expect(await settle()).toContainEqual(['web', uid, 'member']);
  });

  test('binds none if the time of the upgrade is not known', async () => {
    await open(new MemoryFolderStore({ boundSince: '', members: { [WEB]: 'prod' } }));
    instances.add(web);
    expect(await settle()).toEqual([['web', '', 'member']]);
  });

  test('ends the membership of a deleted instance when it is gone, also if another one has its name then', async () => {
    instances.add(web);
    await settle();
    await folders.endWith(web, async () => undefined);
    expect(await settle()).toContainEqual(['web', 'uid-web', 'ending']);
    instances.add({ ...web, uid: 'uid-another' });
    expect(await settle()).toEqual([['box', '', 'member']]);
  });

  test('ends it after a restart, when the context was listed without the instance', async () => {
    instances.add(web);
    await settle();
    await folders.endWith(web, async () => undefined);
    instances.known.clear();
    listed.clear();
    await open(store);
    expect(await settle()).toContainEqual(['web', 'uid-web', 'ending']);
    listed.add('lab');
    expect(await settle()).toEqual([['box', '', 'member']]);
  });

  test('ends it after a restart, if the process was killed while it deleted the instance', async () => {
    instances.add(web);
    await settle();
    const asked = Promise.withResolvers<void>();
    void folders.endWith(web, () => {
      asked.resolve();
      return new Promise<void>(() => undefined);
    });
    await asked.promise;
    instances.known.clear();
    await open(store);
    expect(await settle()).toEqual([['box', '', 'member']]);
  });

  test('ends it when another replica has marked it after the instance was gone', async () => {
    await settle();
    const other = new Folders(store);
    await other.load();
    await other.change((tree) => tree.assign({ ref: WEB, uid: 'uid-web' }, 'prod'));
    await other.change((tree) => tree.mark({ ref: WEB, uid: 'uid-web' }, 'ending'));
    await folders.load();
    expect(await stored()).toEqual([['box', '', 'member']]);
  });

  test('keeps the membership when the deletion is refused, and ends it when its outcome is not known', async () => {
    instances.add(web);
    await settle();
    const fail = (code: 'WRONG_STATE' | 'BACKEND_TIMEOUT') =>
      folders.endWith(web, () => Promise.reject(new DomainError(code, 'no')));
    await expect(fail('WRONG_STATE')).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(await stored()).toContainEqual(['web', 'uid-web', 'member']);
    await expect(fail('BACKEND_TIMEOUT')).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    expect(await stored()).toContainEqual(['web', 'uid-web', 'ending']);
  });

  test('deletes no member when its end can not be stored', async () => {
    instances.add(web);
    await settle();
    store.commit = () => Promise.reject(new DomainError('NOT_READY', 'The store is unreachable.'));
    let isDeleted = false;
    const deletion = folders.endWith(web, async () => void (isDeleted = true));
    await expect(deletion).rejects.toMatchObject({ code: 'NOT_READY' });
    expect(isDeleted).toBe(false);
  });

  test('tries again when the store fails', async () => {
    instances.add(web);
    const commit = store.commit.bind(store);
    store.commit = () => Promise.reject(new DomainError('NOT_READY', 'The store is unreachable.'));
    settlement.settle();
    expect(await stored()).toContainEqual(['web', '', 'unbound']);
    store.commit = commit;
    clock.advance(5_000);
    expect(await stored()).toContainEqual(['web', 'uid-web', 'member']);
  });

  test('settles many members in several changes', async () => {
    const refs = Array.from({ length: 2_500 }, (_none, index) => `vm/lab/default/v${index}`);
    await open(
      new MemoryFolderStore({ boundSince: UPGRADE, members: Object.fromEntries(refs.map((ref) => [ref, 'prod'])) }),
    );
    const sizes: number[] = [];
    const commit = store.commit.bind(store);
    store.commit = (version: string, delta: FolderDelta) => {
      sizes.push(delta.assigned.length);
      return commit(version, delta);
    };
    expect((await settle()).filter((member) => (member as string[])[2] === 'unbound')).toEqual([]);
    expect(sizes).toEqual([2000, 2000, 1000]);
  });
});
