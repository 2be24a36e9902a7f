import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { AuditEntry, Task } from '@headgate/domain-contracts';
import { MIGRATIONS } from './migrations.js';
import { RegistryDatabase } from './registry-database.js';
import { SqliteAuditLog } from './sqlite-audit-log.js';
import { SqliteFolderStore } from './sqlite-folder-store.js';
import { SqliteTaskStore } from './sqlite-task-store.js';

const buildTask = (overrides: Partial<Task> = {}): Task => ({
  id: 'create-web-1',
  kind: 'create',
  status: 'running',
  log: '',
  error: '',
  ref: 'vm/local/local/web',
  caller: 'ann',
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: null,
  progress: null,
  steps: [],
  ...overrides,
});

const buildEntry = (overrides: Partial<AuditEntry> = {}): AuditEntry => ({
  time: '2026-01-01T00:00:00.000Z',
  caller: 'ann',
  action: 'start',
  ref: 'vm/local/local/web',
  outcome: 'ok',
  message: '',
  ...overrides,
});

describe('registry-store', () => {
  let folder: string;
  let file: string;
  let database: RegistryDatabase;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-registry-'));
    file = join(folder, 'deep', 'registry.db');
    database = new RegistryDatabase(file).open();
  });

  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  const reopen = (): void => {
    database.close();
    database = new RegistryDatabase(file).open();
  };

  test('keeps the audit entries of one instance and of all', () => {
    const log = new SqliteAuditLog(database);
    log.append(buildEntry());
    log.append(buildEntry({ ref: 'vm/local/local/web-2', action: 'stop' }));
    reopen();
    const again = new SqliteAuditLog(database);
    expect(again.recent(10).map(({ action }) => action)).toEqual(['stop', 'start']);
    expect(again.recent(10, 'vm/local/local/web')).toEqual([buildEntry()]);
  });

  test('takes back a transaction that fails', () => {
    const log = new SqliteAuditLog(database);
    expect(() =>
      database.transaction(() => {
        log.append(buildEntry());
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(log.recent(10)).toEqual([]);
  });

  test('refuses every access with NOT_READY until it is opened', async () => {
    const closed = new RegistryDatabase(join(folder, 'closed.db'));
    const [tasks, log] = [new SqliteTaskStore(closed), new SqliteAuditLog(closed)];
    await expect(tasks.put(buildTask())).rejects.toMatchObject({ code: 'NOT_READY' });
    for (const access of [() => tasks.recent(1), () => log.append(buildEntry())])
      expect(access).toThrow(expect.objectContaining({ code: 'NOT_READY' }));
    closed.open();
    await tasks.put(buildTask());
    expect(tasks.recent(1)).toHaveLength(1);
    closed.close();
  });

  test('keeps the members of the newest bulk tasks, and lists tasks without them', async () => {
    const tasks = new SqliteTaskStore(database);
    const members = [{ ref: 'vm/local/local/web', status: 'done' as const }];
    for (let index = 0; index < 60; index++) {
      const startedAt = `2026-01-01T00:00:${String(index).padStart(2, '0')}.000Z`;
      await tasks.put(buildTask({ id: `bulk-${index}`, kind: 'bulk', status: 'done', startedAt, members }));
    }
    expect(tasks.get('bulk-59')?.members).toEqual(members);
    expect(tasks.get('bulk-10')?.members).toEqual(members);
    expect(tasks.get('bulk-9')).toMatchObject({ id: 'bulk-9', kind: 'bulk' });
    expect(tasks.get('bulk-9')?.members).toBeUndefined();
    expect(tasks.recent(60).filter((task) => task.members)).toEqual([]);
  });

  test('moves the logs and members of an earlier layout to their own columns', () => {
    const members = [
      { ref: 'vm/local/local/web', status: 'done', task: 'migrate-web-1' },
      { ref: 'vm/local/local/db', status: 'error', error: "It's gone." },
    ];
    const task = buildTask({ id: 'bulk-old', kind: 'bulk', status: 'error', log: 'one\ntwo' });
    const old = join(folder, 'old.db');
    const raw = new DatabaseSync(old);
    raw.exec(`${MIGRATIONS.slice(0, 4).join(';')}; PRAGMA user_version = 4`);
    raw
      .prepare('INSERT INTO task (id, status, started_at, body, members) VALUES (?, ?, ?, ?, ?)')
      .run(task.id, task.status, task.startedAt, JSON.stringify(task), JSON.stringify(members));
    raw.close();
    const upgraded = new RegistryDatabase(old).open();
    const tasks = new SqliteTaskStore(upgraded);
    expect(tasks.get('bulk-old')).toEqual({ ...task, members });
    expect(tasks.recent(1)).toEqual([{ ...task, log: '' }]);
    expect(tasks.counts()).toEqual([{ kind: 'bulk', status: 'error', count: 1 }]);
    upgraded.close();
  });

  test('keeps the members of an earlier layout, which had only refs, as not bound since the upgrade', async () => {
    const old = join(folder, 'folders.db');
    const raw = new DatabaseSync(old);
    raw.exec(`${MIGRATIONS.slice(0, 8).join(';')}; PRAGMA user_version = 8;
      INSERT INTO folder (path) VALUES ('prod'), ('prod/web');
      INSERT INTO folder_member (ref, path) VALUES ('vm/lab/default/web', 'prod/web')`);
    raw.close();
    const startedAt = Date.now();
    const upgraded = new RegistryDatabase(old).open();
    const store = new SqliteFolderStore(upgraded);
    const { version, paths, members, boundSince = '' } = await store.read();
    expect([paths, members]).toEqual([
      ['prod', 'prod/web'],
      [{ ref: 'vm/lab/default/web', uid: '', path: 'prod/web', state: 'unbound' }],
    ]);
    expect(Date.parse(boundSince)).toBeGreaterThanOrEqual(startedAt);
    expect(Date.parse(boundSince)).toBeLessThanOrEqual(Date.now());
    const nothing = { removed: [], created: [], assigned: [] };
    await store.commit(version, { ...nothing, renamed: [{ from: 'prod/web', to: 'prod/www' }] });
    expect((await store.read()).members[0]?.path).toBe('prod/www');
    upgraded.close();
    // The time of the upgrade stays when the service starts again.
    const again = new RegistryDatabase(old).open();
    expect((await new SqliteFolderStore(again).read()).boundSince).toBe(boundSince);
    again.close();
  });

  test('names a task whose row is damaged', async () => {
    const tasks = new SqliteTaskStore(database);
    await tasks.put(buildTask());
    database.run(`UPDATE task SET body = '{'`);
    expect(() => tasks.running()).toThrow('The task create-web-1 in the registry is damaged.');
  });

  test('is readable by its owner only', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('refuses a file that is not a database and one of a newer release, and leaves both as they are', () => {
    const other = join(folder, 'other.db');
    writeFileSync(other, 'not a database at all, but long enough to look at');
    expect(() => new RegistryDatabase(other).open()).toThrow(/can't be used as the registry/);
    database.close();
    const raw = new DatabaseSync(file);
    const { user_version: layout } = raw.prepare('PRAGMA user_version').get() as { user_version: number };
    raw.exec('PRAGMA user_version = 999');
    raw.close();
    expect(() => new RegistryDatabase(file).open()).toThrow(/newer release/);
    const back = new DatabaseSync(file);
    back.exec(`PRAGMA user_version = ${layout}`);
    back.close();
    database = new RegistryDatabase(file).open();
  });
});
