import { randomUUID } from 'node:crypto';
import {
  DomainError,
  FolderStore,
  type FolderDelta,
  type FolderMember,
  type FolderRecords,
} from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** FolderStore over the registry. */
export class SqliteFolderStore extends FolderStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override async read(): Promise<FolderRecords> {
    const { database } = this;
    return database.transaction(() => {
      const [upgrade] = database.all<{ since: string | null }>('SELECT bound_since AS since FROM folder_version');
      return {
        version: this.version(),
        paths: database.all<{ path: string }>('SELECT path FROM folder ORDER BY path').map(({ path }) => path),
        members: database
          .all<FolderMember>('SELECT ref, uid, path, state FROM folder_membership ORDER BY ref, uid')
          .map(({ ref, uid, path, state }) => ({ ref, uid, path, state })),
        ...(typeof upgrade?.since === 'string' && { boundSince: upgrade.since }),
      };
    });
  }

  override async commit(version: string, { removed, renamed, created, assigned }: FolderDelta): Promise<string> {
    return this.database.transaction(() => {
      if (this.version() !== version)
        throw new DomainError('CONFLICT', 'The folders were changed by another request; try again.');
      const { database } = this;
      // Members follow their folder: the key cascades both.
      for (const path of removed) database.run('DELETE FROM folder WHERE path = ?', path);
      for (const { from, to } of renamed) database.run('UPDATE folder SET path = ? WHERE path = ?', to, from);
      for (const path of created) database.run('INSERT INTO folder (path, id) VALUES (?, ?)', path, randomUUID());
      for (const { ref, uid, path, state = 'member' } of assigned) {
        if (path === undefined) database.run('DELETE FROM folder_membership WHERE ref = ? AND uid = ?', ref, uid);
        else
          database.run(
            `INSERT INTO folder_membership (ref, uid, path, state) VALUES (?, ?, ?, ?)
             ON CONFLICT (ref, uid) DO UPDATE SET path = excluded.path, state = excluded.state`,
            ...[ref, uid, path, state],
          );
      }
      database.run('UPDATE folder_version SET version = version + 1');
      return this.version();
    });
  }

  override ids(): ReadonlyMap<string, string> {
    const rows = this.database.all<{ path: string; id: string }>('SELECT path, id FROM folder');
    return new Map(rows.map(({ path, id }) => [path, id]));
  }

  private version(): string {
    return String(this.database.count('SELECT version AS n FROM folder_version'));
  }
}
