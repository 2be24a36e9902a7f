import { Database } from './database.js';

describe('Database', () => {
  let database: Database;
  beforeEach(() => {
    database = Database.inMemory();
  });
  afterEach(() => database.close());

  const secrets = () =>
    database.all<{ name: string }>('SELECT name FROM secrets ORDER BY name').map(({ name }) => name);
  const add = (name: string) => database.run('INSERT INTO secrets VALUES (?, ?)', name, 'x');

  test('waits for the disk before a write counts as done', () => {
    expect(database.get<{ synchronous: number }>('PRAGMA synchronous')?.synchronous).toBe(2);
  });

  test('undoes a whole transaction when a part of it fails', () => {
    const fail = () =>
      database.transaction(() => {
        add('a');
        throw new Error('late');
      });
    expect(fail).toThrow('late');
    expect(secrets()).toEqual([]);
  });

  test('lets a transaction within a transaction join it', () => {
    database.transaction(() => {
      add('a');
      database.transaction(() => add('b'));
    });
    expect(secrets()).toEqual(['a', 'b']);
  });
});
