import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderStoreContract, sourceStoreContract, taskStoreContract } from '@headgate/testing';
import { RegistryDatabase } from './registry-database.js';
import { SqliteFolderStore } from './sqlite-folder-store.js';
import { SqliteSourceStore } from './sqlite-source-store.js';
import { SqliteTaskStore } from './sqlite-task-store.js';

function openHarness<Store>(build: (database: RegistryDatabase) => Store) {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-registry-'));
  const database = new RegistryDatabase(join(folder, 'registry.db')).open();
  return {
    store: build(database),
    reopen: (): Store => {
      database.close();
      return build(database.open());
    },
    close: (): void => {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

folderStoreContract('SQLite', () => openHarness((database) => new SqliteFolderStore(database)));
sourceStoreContract('SQLite', () => openHarness((database) => new SqliteSourceStore(database)));
taskStoreContract('SQLite', () => openHarness((database) => new SqliteTaskStore(database)));
