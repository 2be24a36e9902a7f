import { AddedContextStore, DomainError, type AddedContext } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

interface Row extends Omit<AddedContext, 'settings'> {
  /** JSON. */
  readonly settings: string;
}

/** AddedContextStore over the registry. */
export class SqliteAddedContextStore extends AddedContextStore {
  private readonly listeners = new Set<() => void>();

  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override async add({ name, kind, settings, creator, addedAt }: AddedContext): Promise<void> {
    const added = this.database.run(
      `INSERT INTO added_context (name, kind, settings, creator, added_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (name) DO NOTHING`,
      name,
      kind,
      JSON.stringify(settings),
      creator,
      addedAt,
    );
    if (added === 0) throw new DomainError('ALREADY_EXISTS', `The context "${name}" already exists.`);
    this.report();
  }

  override async update(name: string, settings: AddedContext['settings']): Promise<boolean> {
    const text = JSON.stringify(settings);
    return this.database.run('UPDATE added_context SET settings = ? WHERE name = ?', text, name) > 0;
  }

  override async delete(name: string): Promise<boolean> {
    const existed = this.database.run('DELETE FROM added_context WHERE name = ?', name) > 0;
    this.report();
    return existed;
  }

  override all(): readonly AddedContext[] {
    return this.database
      .all<Row>('SELECT name, kind, settings, creator, added_at AS addedAt FROM added_context ORDER BY number')
      .map(({ settings, ...row }) => ({ ...row, settings: JSON.parse(settings) as AddedContext['settings'] }));
  }
  override subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private report(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
