import type { Task, TaskJournal, TaskMember, TaskStore } from '@headgate/domain-contracts';

export interface TaskStoreHarness {
  readonly store: TaskStore;
  /** The same storage after a restart. */
  reopen(): TaskStore | Promise<TaskStore>;
  close(): void | Promise<void>;
}

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

const journal: TaskJournal = {
  task: 'create-web-1',
  version: 3,
  caller: { login: 'ann', name: 'Ann' },
  input: { disks: ['root'] },
  steps: [{ name: 'copy', params: { to: 'copy-1' }, attempts: 1, isFinished: true, result: { bytes: 7 } }],
};

const waiting: readonly TaskMember[] = [
  { ref: 'vm/lab/default/z', uid: '0e7d7b5c-uid', status: 'waiting' },
  { ref: 'vm/lab/default/a', status: 'waiting' },
];

/** The rules for every `TaskStore`. */
export function taskStoreContract(adapter: string, open: () => TaskStoreHarness | Promise<TaskStoreHarness>): void {
  describe(`TaskStore, ${adapter}`, () => {
    let harness: TaskStoreHarness;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness?.close());

    test('keeps tasks over a restart and lists the newest first, without logs and members', async () => {
      const { store } = harness;
      const task = buildTask({ log: 'a\nb', status: 'done', result: { downtimeMs: 7 } });
      await store.put(buildTask());
      await store.put(
        buildTask({ id: 'bulk-2', kind: 'bulk', startedAt: '2026-01-02T00:00:00.000Z', members: waiting }),
      );
      await store.put(task);
      const again = await harness.reopen();
      expect(again.recent(10)).toEqual([
        buildTask({ id: 'bulk-2', kind: 'bulk', startedAt: '2026-01-02T00:00:00.000Z' }),
        { ...task, log: '' },
      ]);
      expect(again.recent(1)).toHaveLength(1);
      expect(again.running().map(({ id, members }) => [id, members])).toEqual([['bulk-2', waiting]]);
      expect(again.get('create-web-1')).toEqual(task);
      expect(again.get('none')).toBeUndefined();
    });

    test('returns copies: changing one does not change the store', async () => {
      const { store } = harness;
      await store.put(buildTask(), journal);
      Object.assign(store.get('create-web-1') ?? {}, { log: 'changed' });
      Object.assign(store.journal('create-web-1') ?? {}, { version: 9 });
      expect(store.get('create-web-1')?.log).toBe('');
      expect(store.journal('create-web-1')?.version).toBe(3);
    });

    test('keeps the journal of a running task until another replaces it or the task ends', async () => {
      const { store } = harness;
      await store.put(buildTask(), journal);
      await store.put(buildTask({ log: 'a line' }));
      expect((await harness.reopen()).journal('create-web-1')).toEqual(journal);
      const next = { ...journal, canceledBy: 'bob' };
      await store.put(buildTask(), next);
      expect(store.journal('create-web-1')).toEqual(next);
      await store.put(buildTask({ status: 'error' }), next);
      expect(store.journal('create-web-1')).toBeUndefined();
      expect(store.journal('none')).toBeUndefined();
    });

    test('updates the given members, and keeps the others and their order', async () => {
      const { store } = harness;
      const task = buildTask({ kind: 'bulk' });
      const failed: TaskMember = { ref: 'vm/lab/default/a', status: 'error', error: "It's gone; DROP TABLE task" };
      await store.put({ ...task, members: waiting });
      await store.put({ ...task, members: [failed] });
      await store.put({ ...task, members: [] });
      await store.put(task);
      expect((await harness.reopen()).get(task.id)?.members).toEqual([waiting[0], failed]);
      await store.put({ ...task, members: [{ ref: 'vm/lab/default/z', status: 'done', task: 'migrate-z-1' }] });
      expect(store.get(task.id)?.members?.[0]).toEqual({
        ref: 'vm/lab/default/z',
        status: 'done',
        task: 'migrate-z-1',
      });
    });

    test('keeps the members of two tasks apart', async () => {
      const { store } = harness;
      await store.put(buildTask({ kind: 'bulk', members: waiting }));
      await store.put(
        buildTask({ id: 'bulk-2', kind: 'bulk', members: [{ ref: 'vm/lab/default/a', status: 'done' }] }),
      );
      expect(store.get('create-web-1')?.members).toEqual(waiting);
    });

    test('counts tasks by kind and status', async () => {
      const { store } = harness;
      await store.put(buildTask());
      await store.put(buildTask({ id: 'create-web-2', status: 'error' }));
      await store.put(buildTask({ id: 'migrate-web-3', kind: 'migrate', status: 'error' }));
      await store.put(buildTask({ id: 'create-web-4', status: 'error' }));
      expect((await harness.reopen()).counts()).toEqual([
        { kind: 'create', status: 'error', count: 2 },
        { kind: 'create', status: 'running', count: 1 },
        { kind: 'migrate', status: 'error', count: 1 },
      ]);
    });

    test('deletes ended tasks that are too old, and no running one', async () => {
      const { store } = harness;
      const of = (id: string, startedAt: string, status: Task['status']) => buildTask({ id, startedAt, status });
      await store.put(of('old', '2025-01-01T00:00:00.000Z', 'done'));
      await store.put(of('long', '2025-01-01T00:00:00.000Z', 'running'));
      await store.put(of('new', '2026-01-01T00:00:00.000Z', 'error'));
      await store.deleteBefore('2025-06-01T00:00:00.000Z');
      expect(store.recent(10).map(({ id }) => id)).toEqual(['new', 'long']);
    });
  });
}
