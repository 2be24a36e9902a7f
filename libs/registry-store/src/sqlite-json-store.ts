import type { OwnedObject, OwnedStore } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** An OwnedStore over a table of the registry with the columns owner, id and body, which has the object as JSON. */
export class SqliteJsonStore<T extends OwnedObject> implements OwnedStore<T> {
  constructor(
    private readonly database: RegistryDatabase,
    private readonly table: 'schedule' | 'scheduled_snapshots' | 'message_channel' | 'message_rule' | 'backup_target',
    private readonly order: (a: T, b: T) => number,
  ) {}

  async put(object: T): Promise<void> {
    this.write(object);
  }

  async delete(owner: string, id: string): Promise<boolean> {
    return this.database.run(`DELETE FROM ${this.table} WHERE owner = ? AND id = ?`, owner, id) > 0;
  }

  of(owner: string): readonly T[] {
    return this.database
      .all<{ body: string }>(`SELECT body FROM ${this.table} WHERE owner = ?`, owner)
      .map(parse<T>)
      .sort(this.order);
  }

  all(): readonly T[] {
    return this.database
      .all<{ body: string }>(`SELECT body FROM ${this.table}`)
      .map(parse<T>)
      .sort(this.order);
  }

  count(): number {
    return this.database.get<{ count: number }>(`SELECT count(*) AS count FROM ${this.table}`)?.count ?? 0;
  }

  async change(owner: string, id: string, change: (stored: T) => T | undefined): Promise<T | undefined> {
    return this.database.transaction(() => {
      const row = this.database.get<{ body: string }>(
        `SELECT body FROM ${this.table} WHERE owner = ? AND id = ?`,
        owner,
        id,
      );
      if (!row) return undefined;
      const stored = parse<T>(row);
      const next = change(stored);
      if (next) this.write(next);
      return next ?? stored;
    });
  }

  private write(object: T): void {
    this.database.run(
      `INSERT OR REPLACE INTO ${this.table} (owner, id, body) VALUES (?, ?, ?)`,
      object.owner,
      object.id,
      JSON.stringify(object),
    );
  }
}

const parse = <T>({ body }: { readonly body: string }): T => JSON.parse(body) as T;
