import { DomainError, roleKey, RoleStore, type RoleAssignment } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** RoleStore over the registry. */
export class SqliteRoleStore extends RoleStore {
  private readonly listeners = new Set<() => void>();

  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override all(): readonly RoleAssignment[] {
    return this.database
      .all<{ body: string }>('SELECT body FROM role_assignment ORDER BY created_at, id')
      .map(({ body }) => JSON.parse(body) as RoleAssignment);
  }

  override async add(assignment: RoleAssignment): Promise<void> {
    const { id, createdAt, version } = assignment;
    const added = this.database.run(
      `INSERT INTO role_assignment (id, key, created_at, version, body) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (key) DO NOTHING`,
      ...[id, roleKey(assignment), createdAt, version, JSON.stringify(assignment)],
    );
    if (added === 0) throw new DomainError('ALREADY_EXISTS', 'This user or group has a role there already.');
    this.report();
  }

  override async replace(assignment: RoleAssignment): Promise<boolean> {
    const { id, version } = assignment;
    const changed = this.database.run(
      'UPDATE role_assignment SET version = ?, body = ? WHERE id = ? AND key = ? AND version = ?',
      ...[version, JSON.stringify(assignment), id, roleKey(assignment), version - 1],
    );
    if (changed > 0) this.report();
    return changed > 0;
  }

  override async delete(id: string): Promise<boolean> {
    const existed = this.database.run('DELETE FROM role_assignment WHERE id = ?', id) > 0;
    if (existed) this.report();
    return existed;
  }

  override subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private report(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
