import { DomainError, FolderStore, type FolderDelta, type FolderRecords } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** FolderStore over the registry. */
export class SqliteFolderStore extends FolderStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override async read(): Promise<FolderRecords> {
    return this.database.transaction(() => ({
      version: this.version(),
      paths: this.database.all<{ path: string }>('SELECT path FROM folder ORDER BY path').map(({ path }) => path),
      members: this.database
        .all<{ ref: string; path: string }>('SELECT ref, path FROM folder_member ORDER BY ref')
        .map(({ ref, path }) => ({ ref, path })),
    }));
  }

  override async commit(version: string, { removed, renamed, created, assigned }: FolderDelta): Promise<string> {
    return this.database.transaction(() => {
      if (this.version() !== version)
        throw new DomainError('CONFLICT', 'The folders were changed by another request; try again.');
      const { database } = this;
      // Members follow their folder: the key cascades both.
      for (const path of removed) database.run('DELETE FROM folder WHERE path = ?', path);
      for (const { from, to } of renamed) database.run('UPDATE folder SET path = ? WHERE path = ?', to, from);
      for (const path of created) database.run('INSERT INTO folder (path) VALUES (?)', path);
      for (const { ref, path } of assigned) {
        if (path === undefined) database.run('DELETE FROM folder_member WHERE ref = ?', ref);
        else
          database.run(
            'INSERT INTO folder_member (ref, path) VALUES (?, ?) ON CONFLICT (ref) DO UPDATE SET path = excluded.path',
            ref,
            path,
          );
      }
      database.run('UPDATE folder_version SET version = version + 1');
      return this.version();
    });
  }

  private version(): string {
    return String(this.database.count('SELECT version AS n FROM folder_version'));
  }
}
