import { SshKeyStore, type SshKey } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** SshKeyStore over the registry. */
export class SqliteSshKeyStore extends SshKeyStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override async put({ owner, id, name, key, addedAt }: SshKey): Promise<void> {
    this.database.run(
      'INSERT OR REPLACE INTO ssh_key (owner, id, name, key, added_at) VALUES (?, ?, ?, ?, ?)',
      owner,
      id,
      name,
      key,
      addedAt,
    );
  }

  override async delete(owner: string, id: string): Promise<boolean> {
    return this.database.run('DELETE FROM ssh_key WHERE owner = ? AND id = ?', owner, id) > 0;
  }

  override of(owner: string): readonly SshKey[] {
    return this.database
      .all<SshKey>(
        'SELECT owner, id, name, key, added_at AS addedAt FROM ssh_key WHERE owner = ? ORDER BY name, id',
        owner,
      )
      .map((row) => ({ ...row }));
  }

  override count(): number {
    return this.database.get<{ count: number }>('SELECT count(*) AS count FROM ssh_key')?.count ?? 0;
  }
}
