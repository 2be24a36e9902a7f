import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryInUseError, DirectoryLock } from './directory-lock.js';
import { SqliteDatabase } from './sqlite-database.js';

const NOTES = 'CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT';

describe('SqliteDatabase', () => {
  let folder: string;
  let file: string;
  let database: SqliteDatabase;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-sqlite-'));
    file = join(folder, 'deep', 'notes.db');
    database = new SqliteDatabase({ file, migrations: [NOTES] });
  });

  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  test('keeps what it wrote, in a file that only its owner can read', () => {
    expect(database.open().insert('INSERT INTO note (text) VALUES (?)', 'first')).toBe(1);
    database.close();
    expect(database.open().all('SELECT text FROM note')).toEqual([{ text: 'first' }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is closed until it is opened, and after it was closed', () => {
    expect(() => database.get('SELECT 1')).toThrow('is not open');
    database.open();
    expect([database.isOpen, database.count('SELECT 7 AS n')]).toEqual([true, 7]);
    database.close();
    expect(database.isOpen).toBe(false);
    expect(() => database.transaction(() => undefined)).toThrow('is not open');
  });

  test('runs only the steps that a file lacks', () => {
    database.open().run('INSERT INTO note (text) VALUES (?)', 'first');
    database.close();
    database = new SqliteDatabase({ file, migrations: [NOTES, 'ALTER TABLE note ADD COLUMN author TEXT'] });
    expect(database.open().get('SELECT text, author FROM note')).toEqual({ text: 'first', author: null });
  });

  test('refuses a file of a newer release and one that is not a database, and leaves both as they are', () => {
    new SqliteDatabase({ file, migrations: [NOTES, 'SELECT 1'] }).open().close();
    expect(() => database.open()).toThrow('was written by a newer release (layout 2); this one knows 1');
    const other = join(folder, 'other.db');
    const text = 'This is not a database, but it is long enough to be read as one.';
    writeFileSync(other, text);
    expect(() => new SqliteDatabase({ file: other, migrations: [] }).open()).toThrow('not a database');
    expect(readFileSync(other, 'utf8')).toBe(text);
  });

  test('reports a full disk from inside a transaction, and works again when there is space', () => {
    database.open();
    const fill = (): void =>
      database.transaction(() => {
        for (let row = 0; row < 1000; row++) database.insert('INSERT INTO note (text) VALUES (?)', 'x'.repeat(100));
      });
    database.get('PRAGMA max_page_count = 1');
    expect(fill).toThrow(/full/);
    expect(database.count('SELECT count(*) AS n FROM note')).toBe(0);
    database.get('PRAGMA max_page_count = 1000000');
    fill();
    expect(database.count('SELECT count(*) AS n FROM note')).toBe(1000);
  });

  test('takes back a transaction that fails, with the one inside it', () => {
    database.open();
    const add = (text: string): number => database.insert('INSERT INTO note (text) VALUES (?)', text);
    expect(() =>
      database.transaction(() => {
        add('outer');
        database.transaction(() => add('inner'));
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(database.count('SELECT count(*) AS n FROM note')).toBe(0);
  });
});

describe('DirectoryLock', () => {
  test('gives a directory to one holder at a time', () => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-lock-'));
    const path = join(folder, 'data');
    const first = DirectoryLock.acquire(path);
    expect(() => DirectoryLock.acquire(path)).toThrow(DirectoryInUseError);
    first.release();
    DirectoryLock.acquire(path).release();
    rmSync(folder, { recursive: true });
  });
});
