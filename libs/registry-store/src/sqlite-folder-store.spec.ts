import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderStoreContract } from '@headgate/testing';
import { RegistryDatabase } from './registry-database.js';
import { SqliteFolderStore } from './sqlite-folder-store.js';

folderStoreContract('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-folders-'));
  const database = new RegistryDatabase(join(folder, 'registry.db')).open();
  return {
    store: new SqliteFolderStore(database),
    reopen: () => {
      database.close();
      return new SqliteFolderStore(database.open());
    },
    close: () => {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
});
