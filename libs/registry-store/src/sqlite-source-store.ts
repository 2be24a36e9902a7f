import { SourceStore, type CustomSource } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

const COLUMNS = 'SELECT name, kind, uri, description FROM source';

/** SourceStore over the registry. */
export class SqliteSourceStore extends SourceStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override async put({ name, kind, uri, description }: CustomSource): Promise<void> {
    this.database.run(
      `INSERT INTO source (name, kind, uri, description) VALUES (?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, uri = excluded.uri, description = excluded.description`,
      name,
      kind,
      uri,
      description,
    );
  }

  override async delete(name: string): Promise<boolean> {
    return this.database.run('DELETE FROM source WHERE name = ?', name) > 0;
  }

  override all(): readonly CustomSource[] {
    return this.database.all<CustomSource>(`${COLUMNS} ORDER BY name`).map((row) => ({ ...row }));
  }

  override get(name: string): CustomSource | undefined {
    const row = this.database.get<CustomSource>(`${COLUMNS} WHERE name = ?`, name);
    return row && { ...row };
  }
}
