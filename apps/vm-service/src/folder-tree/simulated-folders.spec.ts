import { Folders } from '@headgate/folders';
import { MemoryFolderStore } from '@headgate/testing';
import { SimulatedFolders } from './simulated-folders.js';

const WEB = { ref: 'vm/sandbox/web/web-01', uid: 'a', path: 'prod/web' };
const DB = { ref: 'vm/sandbox/data/db-1', uid: 'b', path: 'prod/data/postgres' };

describe('SimulatedFolders', () => {
  let store: MemoryFolderStore;
  let folders: Folders;

  beforeEach(async () => {
    store = new MemoryFolderStore();
    folders = new Folders(store);
    await folders.open();
  });

  test('adds the folders of simulated instances, and removes them at the end', async () => {
    const simulated = new SimulatedFolders(folders, [WEB, DB]);
    await simulated.open();
    expect(folders.tree.paths()).toEqual(['prod', 'prod/data', 'prod/data/postgres', 'prod/web']);
    expect(folders.folderOf(DB)).toBe('prod/data/postgres');
    await simulated.close();
    expect(await store.read()).toMatchObject({ paths: [], members: [] });
  });

  test('keeps the folders and the members that a user has added, moved or taken out', async () => {
    const simulated = new SimulatedFolders(folders, [WEB, DB]);
    await folders.change((tree) => tree.create('prod/web/mine'));
    await folders.change((tree) => tree.create('other'));
    await folders.change((tree) => tree.assign(DB, 'other'));
    await simulated.open();
    expect(folders.folderOf(DB)).toBe('other');
    await folders.change((tree) => tree.unassign(WEB));
    const own = { ref: 'vm/sandbox/web/own', uid: 'c' };
    await folders.change((tree) => tree.assign(own, 'prod/web/mine'));
    await simulated.close();
    expect(folders.tree.paths()).toEqual(['other', 'prod', 'prod/web', 'prod/web/mine']);
    expect(folders.folderOf(own)).toBe('prod/web/mine');
    expect(folders.folderOf(DB)).toBe('other');
  });

  test('keeps a folder that has other members, and those around it', async () => {
    const simulated = new SimulatedFolders(folders, [WEB, DB]);
    await simulated.open();
    const own = { ref: 'vm/local/local/own', uid: 'c' };
    await folders.change((tree) => tree.assign(own, 'prod/data/postgres'));
    await simulated.close();
    expect(folders.tree.paths()).toEqual(['prod', 'prod/data', 'prod/data/postgres']);
    expect(folders.folderOf(own)).toBe('prod/data/postgres');
  });

  test('adds what an ended process has left behind only once', async () => {
    await new SimulatedFolders(folders, [WEB]).open();
    const { version } = await store.read();
    await new SimulatedFolders(folders, [WEB]).open();
    expect((await store.read()).version).toBe(version);
  });
});
