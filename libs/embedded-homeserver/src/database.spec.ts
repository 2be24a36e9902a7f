import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Database } from './database.js';
import { schema } from './schema.js';

describe('Database', () => {
  let database: Database;
  beforeEach(() => {
    database = Database.inMemory();
  });
  afterEach(() => database.close());

  const secrets = () =>
    database.all<{ name: string }>('SELECT name FROM secrets ORDER BY name').map(({ name }) => name);
  const add = (name: string) => database.run('INSERT INTO secrets VALUES (?, ?)', name, 'x');

  test('waits for the disk before a write returns', () => {
    expect(database.get<{ synchronous: number }>('PRAGMA synchronous')?.synchronous).toBe(2);
  });

  test('rolls back the whole transaction when a part of it fails', () => {
    const fail = () =>
      database.transaction(() => {
        add('a');
        throw new Error('late');
      });
    expect(fail).toThrow('late');
    expect(secrets()).toEqual([]);
  });

  test('joins a nested transaction to the outer one', () => {
    database.transaction(() => {
      add('a');
      database.transaction(() => add('b'));
    });
    expect(secrets()).toEqual(['a', 'b']);
  });

  test('migrates the database of an earlier release and keeps its content', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'database-'));
    const earlier = new DatabaseSync(join(folder, 'homeserver.db'));
    earlier.exec(`${schema[0]}; PRAGMA user_version = 1`);
    earlier.exec("INSERT INTO account_data VALUES ('@a:b', '', 'kept', '{}')");
    earlier.close();
    const opened = Database.open(folder);
    expect(opened.get('PRAGMA user_version')).toEqual({ user_version: schema.length });
    expect(opened.all('SELECT type FROM account_data')).toEqual([{ type: 'kept' }]);
    expect(opened.count('SELECT count(*) AS n FROM deleted_account_data')).toBe(0);
    opened.close();
    await rm(folder, { recursive: true });
  });
});
