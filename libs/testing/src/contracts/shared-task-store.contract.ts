import {
  TaskTakenOver,
  type SharedTaskStore,
  type Task,
  type TaskJournal,
  type TaskMember,
  type TaskRequest,
  type TaskRun,
} from '@headgate/domain-contracts';

export interface SharedTaskStoreHarness {
  /** The store as another replica sees it. */
  join(replica: string): Promise<SharedTaskStore>;
  close(): void | Promise<void>;
}

const buildTask = (overrides: Partial<Task> = {}): Task => ({
  id: 'bulk-stop-1',
  kind: 'bulk',
  status: 'running',
  log: '',
  error: '',
  ref: '',
  caller: 'ann',
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: null,
  progress: null,
  steps: [],
  ...overrides,
});

const journal: TaskJournal = {
  task: 'bulk-stop-1',
  version: 1,
  caller: { login: 'ann', name: 'Ann' },
  input: { action: 'stop' },
  steps: [],
};

const membersOf = (count: number): TaskMember[] =>
  Array.from({ length: count }, (_none, index) => ({ ref: `vm/lab/default/v${index}`, status: 'waiting' }));

/** Waits until a replica sees a task that matches. */
export function untilTask(store: SharedTaskStore, id: string, matches: (task: Task) => boolean): Promise<Task> {
  return new Promise((resolve) => {
    const check = (): boolean => {
      const task = store.get(id);
      if (!task || !matches(task)) return false;
      resolve(task);
      return true;
    };
    if (check()) return;
    const unsubscribe = store.subscribe(() => void (check() && unsubscribe()));
  });
}

/** The rules for every `SharedTaskStore`, besides those of `TaskStore`. */
export function sharedTaskStoreContract(
  adapter: string,
  open: () => SharedTaskStoreHarness | Promise<SharedTaskStoreHarness>,
): void {
  describe(`SharedTaskStore, ${adapter}`, () => {
    const id = journal.task;
    let harness: SharedTaskStoreHarness;
    let a: SharedTaskStore;
    let b: SharedTaskStore;

    beforeEach(async () => {
      harness = await open();
      [a, b] = [await harness.join('a'), await harness.join('b')];
    });
    afterEach(() => harness?.close());

    /** A task of replica a that replica b sees. */
    const begun = async (count = 3): Promise<void> => {
      await a.put(buildTask({ members: membersOf(count) }), journal);
      await untilTask(b, id, ({ members }) => members?.length === count);
    };
    const runOf = (store: SharedTaskStore): TaskRun => {
      const run = store.runOf(id);
      if (!run) throw new Error('The replica does not see the task.');
      return run;
    };
    const takenOver = expect.any(TaskTakenOver) as unknown as Error;

    test('shows the tasks of all replicas, with their runners, journals and members', async () => {
      await begun(600);
      expect([a.runOf(id)?.runner, b.runOf(id)?.runner]).toEqual(['a', 'a']);
      expect(b.journal(id)).toEqual(journal);
      expect(b.get(id)).toEqual(buildTask({ members: membersOf(600) }));
      expect(b.runOf('none')).toBeUndefined();
      expect([b.isRunning('bulk', ''), b.isRunning('bulk', 'vm/lab/default/v0'), b.isRunning('move', '')]).toEqual([
        true,
        false,
        false,
      ]);
      await a.put(buildTask({ log: 'a line', members: [{ ref: 'vm/lab/default/v599', status: 'done' }] }));
      const seen = await untilTask(b, id, ({ log, members }) => log !== '' && members?.at(-1)?.status === 'done');
      expect(seen.members?.filter(({ status }) => status === 'waiting')).toHaveLength(599);
    });

    test('lets another replica take a task over, with everything that its runner has written', async () => {
      await begun();
      await a.put(buildTask({ log: 'last words', members: [{ ref: 'vm/lab/default/v1', status: 'running' }] }));
      await untilTask(b, id, ({ log, members }) => log !== '' && members?.[1]?.status === 'running');
      const task = await b.take(id, runOf(b));
      expect(task).toMatchObject({ log: 'last words' });
      expect(task?.members?.map(({ status }) => status)).toEqual(['waiting', 'running', 'waiting']);
      expect([b.runOf(id)?.runner, b.journal(id)]).toEqual(['b', journal]);
      await b.put(buildTask({ status: 'done' }));
      await untilTask(a, id, ({ status }) => status === 'done');
      expect(a.isRunning('bulk', '')).toBe(false);
      expect(a.runOf(id)?.runner).toBe('b');
    });

    test('refuses each write of a runner whose task was taken over, and changes nothing', async () => {
      await begun();
      await b.take(id, runOf(b));
      const late: TaskMember = { ref: 'vm/lab/default/v2', status: 'running' };
      await expect(a.put(buildTask({ log: 'late' }))).rejects.toEqual(takenOver);
      await expect(a.put(buildTask({ log: 'late', members: [late] }), journal)).rejects.toEqual(takenOver);
      await expect(a.put(buildTask({ status: 'done' }))).rejects.toEqual(takenOver);
      await b.put(buildTask({ log: 'from b' }));
      const seen = await untilTask(a, id, ({ log }) => log === 'from b');
      expect(seen).toMatchObject({ status: 'running', members: membersOf(3) });
    });

    test('gives a task to one replica only', async () => {
      await begun();
      const c = await harness.join('c');
      const [seenByB, seenByC] = [runOf(b), runOf(c)];
      const taken = await Promise.all([b.take(id, seenByB), c.take(id, seenByC)]);
      expect(taken.filter((task) => task !== undefined)).toHaveLength(1);
      const [winner, loser] = taken[0] ? [b, c] : [c, b];
      await winner.put(buildTask({ log: 'mine' }));
      await expect(loser.put(buildTask({ log: 'no, mine' }))).rejects.toEqual(takenOver);
    });

    test('gives no task that has ended, has another runner, or does not exist', async () => {
      await begun();
      expect(await b.take(id, { ...runOf(b), runner: 'c' })).toBeUndefined();
      expect(await b.take('none', runOf(b))).toBeUndefined();
      await a.put(buildTask({ status: 'done' }));
      await untilTask(b, id, ({ status }) => status === 'done');
      expect(await b.take(id, runOf(b))).toBeUndefined();
    });

    test('gives no task that its runner has written, or taken again, since it was found to be gone', async () => {
      await begun();
      const found = runOf(b);
      await a.put(buildTask({ log: 'back again' }));
      expect(await b.take(id, found)).toBeUndefined();
      const seen = await untilTask(b, id, ({ log }) => log === 'back again').then(() => runOf(b));
      expect(await a.take(id, runOf(a))).toMatchObject({ log: 'back again' });
      expect(await b.take(id, seen)).toBeUndefined();
      await a.put(buildTask({ log: 'still mine' }));
      expect(a.runOf(id)?.runner).toBe('a');
    });

    test('passes a request to the runner, which clears it with its next write', async () => {
      await begun();
      const requests: (TaskRequest | undefined)[] = [];
      const received = Promise.withResolvers<void>();
      a.subscribe((_task, request) => {
        if (!request) return;
        requests.push(request);
        received.resolve();
      });
      await b.request(id, { action: 'cancel', login: 'bob' });
      await received.promise;
      expect(requests[0]).toEqual({ action: 'cancel', login: 'bob' });
      await a.put(buildTask({ log: 'canceling' }));
      const cleared = Promise.withResolvers<TaskRequest | undefined>();
      b.subscribe((task, request) => task.log === 'more' && cleared.resolve(request));
      await a.put(buildTask({ log: 'more' }));
      expect(await cleared.promise).toBeUndefined();
    });

    test('passes no request for a task that has ended or does not exist', async () => {
      await begun();
      await a.put(buildTask({ status: 'done' }));
      await expect(b.request(id, { action: 'pause' })).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await expect(b.request('none', { action: 'pause' })).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    });

    test('reports the changes of other replicas', async () => {
      const logs: string[] = [];
      b.subscribe(({ log }) => logs.push(log));
      await begun();
      await a.put(buildTask({ log: 'one' }));
      await untilTask(b, id, ({ log }) => log === 'one');
      await a.put(buildTask({ log: 'two', status: 'done' }));
      await untilTask(b, id, ({ status }) => status === 'done');
      expect([...new Set(logs)].filter(Boolean)).toEqual(['one', 'two']);
    });
  });
}
