import { folderStoreContract } from './contracts/folder-store.contract.js';
import { MemoryFolderStore } from './memory-folder-store.js';

folderStoreContract('memory', () => {
  const store = new MemoryFolderStore();
  return { store, reopen: () => store, close: () => undefined };
});
