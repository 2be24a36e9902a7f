import { TaskStore, type Caller, type InstanceRef, type Task } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { INTERRUPTED, TaskBoard } from './task-board.js';

class MemoryTasks extends TaskStore {
  readonly kept = new Map<string, Task>();
  puts = 0;
  full = false;

  override put(task: Task): void {
    if (this.full) throw new Error('database or disk is full');
    this.puts++;
    this.kept.set(task.id, structuredClone(task));
  }

  override get(id: string): Task | undefined {
    return this.kept.get(id);
  }

  override running(): readonly Task[] {
    return [...this.kept.values()].filter(({ status }) => status === 'running');
  }

  override recent(limit: number): readonly Task[] {
    return [...this.kept.values()]
      .reverse()
      .slice(0, limit)
      .map(({ members: _members, ...task }) => task);
  }
}

const ann: Caller = { login: 'ann', name: 'Ann', admin: true };
const ref: InstanceRef = { kind: 'vm', context: 'lab', namespace: 'local', name: 'web' };

describe('TaskBoard', () => {
  let store: MemoryTasks;
  let clock: FixedClock;
  let logged: object[];
  let board: TaskBoard;

  beforeEach(() => {
    store = new MemoryTasks();
    clock = new FixedClock();
    logged = [];
    const note = (fields: object, message: string): void => void logged.push({ ...fields, message });
    board = new TaskBoard(store, clock, { info: note, warn: note });
  });

  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };

  test('journals the task before its work starts, and each step before it starts', async () => {
    const seen: (string | undefined)[] = [];
    const id = board.start('create', ref, ann, async (report) => {
      seen.push(store.get(id)?.status);
      report.step('download');
      seen.push(store.get(id)?.steps.at(-1)?.name);
    });
    expect(store.get(id)).toMatchObject({ status: 'running', ref: 'vm/lab/local/web', caller: 'ann' });
    await settled();
    expect(seen).toEqual(['running', 'download']);
    expect(store.get(id)).toMatchObject({ id, status: 'done', error: '', progress: 1, log: 'download' });
    expect(store.get(id)?.steps[0]?.finishedAt).toBeDefined();
    expect(logged).toEqual([{ id, kind: 'create', status: 'done', error: '', message: 'task ended' }]);
  });

  test('assigns IDs that sort by time and name the instance', () => {
    const first = board.start('migrate', ref, ann, async () => undefined);
    clock.advance(1);
    const second = board.start('migrate', ref, ann, async () => undefined);
    expect(first).toMatch(/^migrate-web-[0-9a-z]+$/);
    expect(second > first).toBe(true);
  });

  test('ends a task whose work throws with the error message', async () => {
    const id = board.start('create', ref, ann, async (report) => {
      report.progress(0.5);
      throw new Error('The disk is full.');
    });
    await settled();
    expect(board.get(id)).toMatchObject({
      status: 'error',
      error: 'The disk is full.',
      log: 'The disk is full.',
      progress: 0.5,
    });
  });

  test('reports progress at once and writes it to the store at intervals', async () => {
    const gate = Promise.withResolvers<void>();
    const id = board.start('create', ref, ann, async (report) => {
      for (let line = 0; line < 100; line++) report.log(`line ${line}`);
      report.progress(2);
      await gate.promise;
    });
    await settled();
    expect(board.get(id)).toMatchObject({ progress: 1 });
    expect(board.get(id).log.split('\n')).toHaveLength(100);
    expect(store.puts).toBe(1);
    clock.advance(1000);
    expect(store.puts).toBe(2);
    gate.resolve();
    await settled();
  });

  test('drops the oldest lines of a long log', async () => {
    const id = board.start('create', ref, ann, async (report) => {
      for (let line = 0; line < 40_000; line++) report.log(`line ${line}`);
    });
    await settled();
    const { log } = board.get(id);
    expect(log.length).toBeLessThanOrEqual(262_144);
    expect(log.endsWith('line 39999')).toBe(true);
    expect(log).toMatch(/^line \d+\n/);
  });

  test('marks tasks that a restart interrupted', () => {
    store.put({
      ...board.get(board.start('create', ref, ann, () => new Promise(() => undefined))),
      id: 'old',
      log: 'a',
    });
    new TaskBoard(store, clock).recover();
    expect(store.get('old')).toMatchObject({ status: 'error', error: INTERRUPTED, log: `a\n${INTERRUPTED}` });
    expect(store.running()).toEqual([]);
  });

  test('starts a bulk task with its members, and records the result of each', async () => {
    const gate = Promise.withResolvers<void>();
    const id = board.startBulk({ action: 'start' }, ['vm/a', 'vm/b', 'vm/c'], ann, async (report) => {
      report.member('vm/a', { status: 'done' });
      report.member('vm/b', { status: 'error', error: 'It is gone.' });
      await gate.promise;
      throw new Error('1 of 3 failed.');
    });
    expect(id).toMatch(/^bulk-start-/);
    expect(store.get(id)).toMatchObject({
      ref: '',
      bulk: { action: 'start', counts: { waiting: 3, done: 0 } },
      members: [{ ref: 'vm/a', status: 'waiting' }, {}, {}],
    });
    await settled();
    expect(board.get(id).bulk?.counts).toEqual({ waiting: 1, running: 0, done: 1, error: 1, skipped: 0 });
    expect(board.recent(1)[0]).not.toHaveProperty('members');
    gate.resolve();
    await settled();
    expect(board.get(id)).toMatchObject({
      status: 'error',
      members: [{ status: 'done' }, { status: 'error', error: 'It is gone.' }, { status: 'skipped' }],
    });
  });

  test('cancels one task, but not one that has ended', async () => {
    const id = board.startBulk({ action: 'stop' }, ['vm/a'], ann, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    });
    await settled();
    board.cancelTask(id, new Error('Canceled by ann.'));
    await settled();
    expect(board.get(id)).toMatchObject({
      status: 'error',
      error: 'Canceled by ann.',
      members: [{ status: 'skipped', error: 'Canceled by ann.' }],
    });
    expect(() => board.cancelTask(id, new Error())).toThrow(expect.objectContaining({ code: 'WRONG_STATE' }));
    expect(() => board.cancelTask('none', new Error())).toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
  });

  test('does not claim to know what a killed process did', () => {
    const id = board.startBulk({ action: 'stop' }, ['vm/a', 'vm/b', 'vm/c'], ann, () => new Promise(() => undefined));
    store.put({
      ...board.get(id),
      members: [
        { ref: 'vm/a', status: 'done' },
        { ref: 'vm/b', status: 'running' },
        { ref: 'vm/c', status: 'waiting' },
      ],
    });
    new TaskBoard(store, clock).recover();
    expect(store.get(id)).toMatchObject({
      status: 'error',
      bulk: { counts: { done: 1, error: 2, running: 0, waiting: 0 } },
      members: [
        { status: 'done' },
        { status: 'error', error: expect.stringMatching(/may have been carried out/) },
        { status: 'error' },
      ],
    });
  });

  test('cancels the work of one instance, whose tasks end with the reason', async () => {
    const untilAborted = (signal: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const ids = [ref, { ...ref, name: 'db' }].map((one) =>
      board.start('create', one, ann, (report) => untilAborted(report.signal)),
    );
    await settled();
    board.cancel(ref, new Error('web was deleted.'));
    await settled();
    expect(ids.map((id) => board.get(id))).toMatchObject([
      { status: 'error', error: 'web was deleted.' },
      { status: 'running', error: '' },
    ]);
  });

  test('cancels all work on shutdown, waits for it, and gives the reason', async () => {
    const id = board.start('create', ref, ann, (report) => {
      return new Promise((_resolve, reject) =>
        report.signal.addEventListener('abort', () => reject(new Error('aborted'))),
      );
    });
    await settled();
    await board.close();
    expect(board.get(id)).toMatchObject({ status: 'error', error: INTERRUPTED });
  });

  test('continues while the store cannot be written, logs that, and reports the outcome', async () => {
    const gate = Promise.withResolvers<void>();
    const id = board.start('create', ref, ann, async (report) => {
      store.full = true;
      report.log('half of it');
      await gate.promise;
    });
    await settled();
    clock.advance(1000);
    expect(logged).toEqual([{ id, reason: 'database or disk is full', message: 'writing the task failed' }]);
    gate.resolve();
    await settled();
    expect(board.get(id)).toMatchObject({ status: 'done', log: 'half of it' });
    expect(store.get(id)).toMatchObject({ status: 'running' });
  });

  test('fails a task that cannot journal its next step', async () => {
    const id = board.start('create', ref, ann, async (report) => {
      store.full = true;
      report.step('download');
    });
    await settled();
    expect(board.get(id)).toMatchObject({ status: 'error', error: 'database or disk is full' });
  });

  test('throws for an unknown task', () => {
    expect(() => board.get('none')).toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
  });
});
