import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddedContext } from '@headgate/domain-contracts';
import { RegistryDatabase } from './registry-database.js';
import { SqliteAddedContextStore } from './sqlite-added-context-store.js';

const context = (name: string, more: Partial<AddedContext> = {}): AddedContext => ({
  name,
  kind: 'kubevirt',
  settings: { kubeconfig: '{"a": "\u00e4"}', depth: { b: [1, null] } },
  creator: 'ann',
  addedAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

describe('SqliteAddedContextStore', () => {
  let folder: string;
  let database: RegistryDatabase;
  let store: SqliteAddedContextStore;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-registry-'));
    database = new RegistryDatabase(join(folder, 'registry.db')).open();
    store = new SqliteAddedContextStore(database);
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  test('keeps contexts in the order in which they were added, over a restart', async () => {
    for (const name of ['web', 'db', 'a']) await store.add(context(name));
    database.close();
    database.open();
    expect(store.all()).toEqual([context('web'), context('db'), context('a')]);
  });

  test('keeps the first of two of a name', async () => {
    await store.add(context('web'));
    await expect(store.add(context('web', { kind: 'libvirt' }))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(store.all()).toEqual([context('web')]);
  });

  test('replaces the settings of one, in its place, over a restart', async () => {
    for (const name of ['web', 'db']) await store.add(context(name));
    const settings = { kubeconfig: 'new' };
    expect(await store.update('web', settings)).toBe(true);
    database.close();
    database.open();
    expect(store.all()).toEqual([context('web', { settings }), context('db')]);
  });

  test('adds none by a change of one that was deleted', async () => {
    await store.add(context('web'));
    await store.delete('web');
    expect(await store.update('web', {})).toBe(false);
    expect(store.all()).toEqual([]);
  });

  test('deletes one, once', async () => {
    await store.add(context('web'));
    await store.add(context('db'));
    expect([await store.delete('web'), await store.delete('web')]).toEqual([true, false]);
    expect(store.all()).toEqual([context('db')]);
  });
});
