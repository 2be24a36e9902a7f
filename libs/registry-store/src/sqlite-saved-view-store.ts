import { SavedViewStore, type SavedView } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

interface Row extends Omit<SavedView, 'columns'> {
  /** JSON. */
  readonly columns: string | null;
}

/** SavedViewStore over the registry. */
export class SqliteSavedViewStore extends SavedViewStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override async put({ owner, id, name, address, columns, rank, savedAt }: SavedView): Promise<void> {
    this.database.run(
      'INSERT OR REPLACE INTO saved_view (owner, id, name, address, columns, rank, saved_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      owner,
      id,
      name,
      address,
      columns && JSON.stringify(columns),
      rank,
      savedAt,
    );
  }

  override async delete(owner: string, id: string): Promise<boolean> {
    return this.database.run('DELETE FROM saved_view WHERE owner = ? AND id = ?', owner, id) > 0;
  }

  override of(owner: string): readonly SavedView[] {
    return this.database
      .all<Row>(
        'SELECT owner, id, name, address, columns, rank, saved_at AS savedAt FROM saved_view WHERE owner = ? ORDER BY rank, name, id',
        owner,
      )
      .map(({ columns, ...row }) => ({ ...row, columns: columns === null ? null : (JSON.parse(columns) as string[]) }));
  }

  override count(): number {
    return this.database.get<{ count: number }>('SELECT count(*) AS count FROM saved_view')?.count ?? 0;
  }
}
