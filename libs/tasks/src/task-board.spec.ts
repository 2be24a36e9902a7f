import { ADMINISTRATOR, type Caller, type InstanceRef } from '@headgate/domain-contracts';
import { FixedClock, MemoryTaskStore } from '@headgate/testing';
import { INTERRUPTED } from './running-task.js';
import { TaskBoard } from './task-board.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const ref: InstanceRef = { kind: 'vm', context: 'lab', namespace: 'local', name: 'web' };

describe('TaskBoard', () => {
  let store: MemoryTaskStore;
  let clock: FixedClock;
  let logged: object[];
  let board: TaskBoard;

  beforeEach(() => {
    store = new MemoryTaskStore();
    clock = new FixedClock();
    logged = [];
    const note = (fields: object, message: string): void => void logged.push({ ...fields, message });
    board = new TaskBoard(store, clock, { info: note, warn: note });
  });

  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  };

  test('journals the task before its work starts, and each step before it starts', async () => {
    const seen: (string | undefined)[] = [];
    const id = await board.start('create', ref, ann, async (report) => {
      seen.push(store.running()[0]?.status);
      report.step('download');
      await settled();
      seen.push(store.running()[0]?.steps.at(-1)?.name);
    });
    expect(store.get(id)).toMatchObject({ status: 'running', ref: 'vm/lab/local/web', caller: 'ann' });
    await settled();
    await settled();
    expect(seen).toEqual(['running', 'download']);
    expect(store.get(id)).toMatchObject({ id, status: 'done', error: '', progress: 1, log: 'download' });
    expect(store.get(id)?.steps[0]?.finishedAt).toBeDefined();
    expect(logged).toEqual([{ id, kind: 'create', status: 'done', error: '', message: 'task ended' }]);
  });

  test('assigns IDs that sort by time and name the instance', async () => {
    const first = await board.start('migrate', ref, ann, async () => undefined);
    clock.advance(1);
    const second = await board.start('migrate', ref, ann, async () => undefined);
    expect(first).toMatch(/^migrate-web-[0-9a-z]+$/);
    expect(second > first).toBe(true);
  });

  test('ends a task whose work throws with the error message', async () => {
    const id = await board.start('create', ref, ann, async (report) => {
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

  test('reports progress immediately and writes it to the store at intervals', async () => {
    const gate = Promise.withResolvers<void>();
    const id = await board.start('create', ref, ann, async (report) => {
      for (let line = 0; line < 100; line++) report.log(`line ${line}`);
      report.progress(2);
      await gate.promise;
    });
    await settled();
    expect(board.get(id)).toMatchObject({ progress: 1 });
    expect(board.get(id).log.split('\n')).toHaveLength(100);
    expect(store.puts).toBe(1);
    clock.advance(1000);
    await settled();
    expect(store.puts).toBe(2);
    gate.resolve();
    await settled();
  });

  test('marks tasks that a restart interrupted', async () => {
    await store.put({
      ...board.get(await board.start('create', ref, ann, () => new Promise(() => undefined))),
      id: 'old',
      log: 'a',
    });
    await new TaskBoard(store, clock).recover();
    expect(store.get('old')).toMatchObject({ status: 'error', error: INTERRUPTED, log: `a\n${INTERRUPTED}` });
    expect(store.running()).toEqual([]);
  });

  test('refuses a task that it cannot journal, and begins nothing', async () => {
    store.isFull = true;
    let hasRun = false;
    const work = async (): Promise<void> => void (hasRun = true);
    const unwritable = expect.objectContaining({ code: 'NOT_READY', message: expect.stringMatching(/disk is full/) });
    await expect(board.start('create', ref, ann, work)).rejects.toThrow(unwritable);
    board.defineBulk(async () => undefined);
    await expect(board.startBulk({ action: 'start' }, ['vm/lab/local/a'], ann)).rejects.toThrow(unwritable);
    await settled();
    expect([hasRun, board.recent(10)]).toEqual([false, []]);
  });

  test('cancels a migration, which leaves the guest where it is, and no other work without a journal', async () => {
    const untilAborted = (signal: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const id = await board.start('migrate', ref, ann, ({ signal }) => untilAborted(signal));
    const create = await board.start('create', ref, ann, (report) => {
      report.step('Write the disk');
      return untilAborted(report.signal);
    });
    await settled();
    expect([board.get(id).cancelable, board.get(create).cancelable]).toEqual([true, false]);
    await board.cancelTask(id, ann);
    await board.cancelTask(id, ann);
    await settled();
    await board.cancelTask(id, ann);
    expect(store.get(id)).toMatchObject({ status: 'error', error: 'Canceled by ann.', canceledBy: 'ann' });
    await expect(board.cancelTask(create, ann)).rejects.toThrow(
      expect.objectContaining({ code: 'WRONG_STATE', message: expect.stringMatching(/"Write the disk"/) }),
    );
    await expect(board.cancelTask('none', ann)).rejects.toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
  });

  test('deletes ended tasks after 90 days, and no running one', async () => {
    const old = await board.start('create', ref, ann, async () => undefined);
    const long = await board.start('create', ref, ann, () => new Promise(() => undefined));
    await settled();
    await board.recover();
    clock.advance(89 * 86_400_000);
    expect(board.get(old).status).toBe('done');
    clock.advance(2 * 86_400_000);
    await settled();
    expect(() => board.get(old)).toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
    expect(board.get(long).status).toBe('running');
  });

  test('cancels the work of one instance, whose tasks end with the reason', async () => {
    const untilAborted = (signal: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const start = (one: InstanceRef) => board.start('create', one, ann, (report) => untilAborted(report.signal));
    const ids = [await start(ref), await start({ ...ref, name: 'db' })];
    await settled();
    board.cancel(ref, new Error('web was deleted.'));
    await settled();
    expect(ids.map((id) => board.get(id))).toMatchObject([
      { status: 'error', error: 'web was deleted.' },
      { status: 'running', error: '' },
    ]);
  });

  test('cancels all work on shutdown, waits for it, and gives the reason', async () => {
    const id = await board.start('create', ref, ann, (report) => {
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
    const id = await board.start('create', ref, ann, async (report) => {
      store.isFull = true;
      report.log('half of it');
      await gate.promise;
    });
    await settled();
    clock.advance(1000);
    await settled();
    expect(logged).toEqual([{ id, reason: 'database or disk is full', message: 'writing the task failed' }]);
    gate.resolve();
    await settled();
    expect(board.get(id)).toMatchObject({ status: 'done', log: 'half of it' });
    expect(store.get(id)).toMatchObject({ status: 'running' });
  });

  test('fails a task that cannot journal its next step', async () => {
    const id = await board.start('create', ref, ann, async (report) => {
      store.isFull = true;
      report.step('download');
    });
    await settled();
    expect(board.get(id)).toMatchObject({ status: 'error', error: 'database or disk is full' });
  });

  test('writes the end of a task as soon as the store can be written again', async () => {
    const id = await board.start('create', ref, ann, async () => {
      store.isFull = true;
    });
    await settled();
    clock.advance(30_000);
    await settled();
    expect(store.get(id)?.status).toBe('running');
    store.isFull = false;
    clock.advance(10_000);
    await settled();
    expect(store.get(id)?.status).toBe('done');
  });

  test('does not wait longer than 5 seconds for work that does not stop', async () => {
    let report: { log(line: string): void } | undefined;
    const id = await board.start('create', ref, ann, (given) => {
      report = given;
      return new Promise(() => undefined);
    });
    await settled();
    let isClosed = false;
    const closed = board.close().then(() => (isClosed = true));
    await settled();
    clock.advance(4_999);
    await settled();
    expect(isClosed).toBe(false);
    clock.advance(1);
    await closed;
    const { puts } = store;
    report?.log('still here');
    clock.advance(60_000);
    await settled();
    expect([store.puts, store.get(id)?.status]).toEqual([puts, 'running']);
  });

  test('reports each task that was created, changed or ended, but not the lines of its log', async () => {
    const seen: string[] = [];
    const unsubscribe = board.subscribe(({ status, progress, steps, log }) =>
      seen.push([status, progress, ...steps.map(({ name }) => name), log].join(' ')),
    );
    const gate = Promise.withResolvers<void>();
    await board.start('create', ref, ann, async (report) => {
      report.step('download');
      await gate.promise;
      report.log('line');
      report.progress(0.5);
    });
    await settled();
    expect(seen).toEqual(['running  ', 'running  download ']);
    gate.resolve();
    await settled();
    expect(seen.slice(2)).toEqual(['running 0.5 download ', 'done 1 download ']);
    unsubscribe();
    await board.start('create', ref, ann, async () => undefined);
    await settled();
    expect(seen).toHaveLength(4);
  });

  test('throws for an unknown task', () => {
    expect(() => board.get('none')).toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
  });
});
