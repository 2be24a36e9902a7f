import { byTargetName, type BackupTarget, type BackupTargetStore } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';
import { SqliteJsonStore } from './sqlite-json-store.js';

/** BackupTargetStore over the registry. */
export class SqliteBackupTargetStore extends SqliteJsonStore<BackupTarget> implements BackupTargetStore {
  constructor(database: RegistryDatabase) {
    super(database, 'backup_target', byTargetName);
  }
}
