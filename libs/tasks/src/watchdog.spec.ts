import type { Reservation, Reservations, StepContext, TaskReporter } from '@headgate/domain-contracts';
import { buildVm, type FixedClock, type MemoryTaskStore } from '@headgate/testing';
import { PATIENCE as OF_KIND } from './patience.js';
import { TaskBoard } from './task-board.js';
import { ann, CopyTasks, never, PATIENCE, untilAborted, type CopyInput, type Step } from './testing/copy-tasks.js';

const { stallMs } = PATIENCE;
const GRACE_MS = 30_000;

describe('a step that makes no progress', () => {
  let store: MemoryTaskStore;
  let clock: FixedClock;
  let tasks: CopyTasks;
  let context: StepContext<CopyInput>;

  beforeEach(() => {
    tasks = new CopyTasks();
    ({ store, clock } = tasks);
  });

  const settled = () => tasks.settled();
  const recorded =
    (work: Step): Step =>
    (given) => {
      context = given;
      return work(given);
    };
  const pass = async (...times: number[]) => {
    for (const ms of times) {
      clock.advance(ms);
      await settled();
    }
  };

  test('is aborted after its time, rolled back, and ends with what it has waited for', async () => {
    const undone: string[] = [];
    const { board, start } = tasks.open(
      { copy: recorded(untilAborted) },
      { rollback: async () => void undone.push('copy') },
    );
    board.describeWith((ref) => `${ref} is Stopped.`);
    const id = await start();
    await settled();
    expect(board.get(id).waitsFor).toBe('the copy of the disk');
    await pass(stallMs - 1);
    expect(board.get(id).status).toBe('running');
    await pass(1);
    const { status, error, waitsFor } = board.get(id);
    expect([status, undone, waitsFor]).toEqual(['error', ['copy'], undefined]);
    expect(error).toBe(
      '"copy" reported no progress for 60 s while it waited for the copy of the disk. Finished before: "prepare". ' +
        'vm/lab/local/web is Stopped. The engine may still copy.',
    );
    expect(store.journal(id)).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  test('ends without a rollback when it does not stop, and ignores what it reports later', async () => {
    const undone: string[] = [];
    const { board, start } = tasks.open({ copy: recorded(never) }, { rollback: async () => void undone.push('copy') });
    const id = await start();
    await settled();
    await pass(stallMs);
    expect(board.get(id).status).toBe('running');
    await pass(GRACE_MS);
    expect(board.get(id)).toMatchObject({
      status: 'error',
      error: expect.stringMatching(
        /It did not stop\. Finished before: "prepare"\. Nothing was undone\. The engine may/,
      ),
    });
    expect(undone).toEqual([]);
    context.log('late');
    context.bytes(1);
    expect([board.get(id).log.includes('late'), board.get(id).transfer]).toEqual([false, undefined]);
    await expect(context.commit('Too late.')).rejects.toThrow();
    expect(store.get(id)?.status).toBe('error');
  });

  const reports: [string, (context: StepContext<CopyInput>, turn: number) => unknown][] = [
    ['bytes', ({ bytes }, turn) => bytes(turn)],
    ['a fraction', ({ progress }, turn) => progress(turn / 10)],
    ['a line of the log', ({ log }, turn) => log(`Phase ${turn}`)],
    ['a subject that it waits for', ({ waitsFor }, turn) => waitsFor(`the disk ${turn}`)],
    ['a checkpoint', ({ saveCheckpoint }, turn) => saveCheckpoint({ turn })],
  ];

  test.each(reports)('gets its whole time again with %s, but not with the same again', async (_title, report) => {
    const { board, start } = tasks.open({ copy: recorded(untilAborted) });
    const id = await start();
    await settled();
    for (let turn = 1; turn <= 3; turn++) {
      await pass(stallMs - 1);
      report(context, turn);
      await settled();
    }
    expect(board.get(id).status).toBe('running');
    await pass(stallMs - 1);
    report(context, 3);
    await pass(1);
    expect(board.get(id).status).toBe('error');
  });

  test('names the last subject that it waited for, also in the entry of the task', async () => {
    const { board, start } = tasks.open({ copy: recorded(untilAborted) });
    const id = await start();
    await settled();
    context.waitsFor('the snapshot one to be ready');
    expect(board.get(id).waitsFor).toBe('the snapshot one to be ready');
    await pass(1_000);
    expect(store.get(id)?.waitsFor).toBe('the snapshot one to be ready');
    await pass(stallMs);
    expect(board.get(id).error).toContain('while it waited for the snapshot one to be ready.');
  });

  test('ends also after it was canceled and did not stop', async () => {
    const { board, start } = tasks.open({ copy: recorded(never) });
    const id = await start();
    await settled();
    await board.cancelTask(id, ann);
    await pass(stallMs, GRACE_MS);
    expect(board.get(id)).toMatchObject({ status: 'error', canceledBy: 'ann' });
  });

  test('releases the reservation of its task', async () => {
    const ended = new Set<string>();
    const ledger = { endTask: (task: string) => void ended.add(task) } as unknown as Reservations;
    const board = new TaskBoard(store, clock, undefined, undefined, ledger);
    const restores = board.define<CopyInput>({
      kind: 'restore',
      steps: () => [{ name: 'restore', ...PATIENCE, run: never }],
    });
    const work = { operation: 'restore', uses: [] } as const;
    const reservation: Reservation = { work, giveTo: () => undefined, release: () => undefined };
    const id = await restores.start({ name: 'web', ref: '', input: { disk: 'root' }, reservation }, ann);
    await settled();
    expect(ended).toEqual(new Set());
    await pass(stallMs, GRACE_MS);
    expect(ended).toEqual(new Set([id]));
  });

  test('is not ended while the service shuts down, and has its whole time again after the restart', async () => {
    const first = tasks.open({ copy: recorded(untilAborted) }, { resume: async () => ({ action: 'continue' }) });
    const id = await first.start();
    await settled();
    await pass(stallMs - 1);
    await first.board.close();
    await settled();
    expect(clock.pending).toBe(0);
    const board = await tasks.restart(
      { copy: recorded(untilAborted) },
      { resume: async () => ({ action: 'continue' }) },
    );
    await pass(stallMs - 1);
    expect(board.get(id).status).toBe('running');
    await board.close();
  });

  test('is also one that computes its parameters, one that resumes, and one that undoes', async () => {
    const hangs = { resume: never, rollback: never };
    const killed = tasks.open({ copy: untilAborted }, hangs);
    await killed.start();
    await settled();
    await killed.board.close();
    const board = await tasks.restart({}, hangs);
    const [{ id } = { id: '' }] = board.recent(1);
    await pass(90 * 60_000, GRACE_MS);
    expect(board.get(id)).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/"resume" reported no progress/),
    });

    const failing = tasks.open({ copy: () => Promise.reject(new Error('No.')) }, hangs);
    const second = await failing.start();
    await settled();
    await pass(90 * 60_000, GRACE_MS);
    expect(failing.board.get(second).error).toMatch(/^No\. The rollback failed: "rollback" reported no progress/);

    const other = new TaskBoard(store, clock);
    const params = (): Promise<object> => never({} as never) as Promise<object>;
    const clones = other.define({
      kind: 'clone',
      steps: () => [{ name: 'look', ...PATIENCE, params, run: async () => undefined }],
    });
    const third = await clones.start({ name: 'web', ref: '', input: {} }, ann);
    await settled();
    await pass(stallMs, GRACE_MS);
    expect(other.get(third).status).toBe('error');
  });
});

describe('work that is no defined task and makes no progress', () => {
  const { ref } = buildVm();

  test('ends after the time of its kind, and names its last step', async () => {
    const tasks = new CopyTasks();
    const { board } = tasks.open({});
    let report!: TaskReporter;
    const id = await board.start('create', ref, ann, (given) => {
      report = given;
      given.step('fetch');
      given.step('fill');
      given.waitsFor?.('the image');
      return new Promise(() => undefined);
    });
    await tasks.settled();
    tasks.clock.advance(OF_KIND.create.stallMs - 1);
    report.progress(0.5);
    tasks.clock.advance(OF_KIND.create.stallMs - 1);
    await tasks.settled();
    expect(board.get(id).status).toBe('running');
    tasks.clock.advance(1);
    await tasks.settled();
    tasks.clock.advance(GRACE_MS);
    await tasks.settled();
    expect(board.get(id)).toMatchObject({
      status: 'error',
      error: expect.stringMatching(
        /^"fill" reported no progress for 60 min while it waited for the image\. It did not stop\. Finished before: "fetch"\./,
      ),
    });
    expect(tasks.clock.pending).toBe(0);
  });

  test('can not be canceled after it has committed', async () => {
    const tasks = new CopyTasks();
    const { board } = tasks.open({});
    const id = await board.start('migrate', ref, ann, async ({ commit, signal }) => {
      await commit?.('The guest runs elsewhere.');
      await untilAborted({ signal } as StepContext<CopyInput>);
    });
    await tasks.settled();
    await expect(board.cancelTask(id, ann)).rejects.toThrow(/can no longer be canceled: The guest runs elsewhere\./);
    await board.close();
  });
});

describe('the member of a bulk task that does not end', () => {
  test('fails, and the others go on', async () => {
    const tasks = new CopyTasks();
    const board = new TaskBoard(tasks.store, tasks.clock);
    board.defineBulk((_order, { name }) =>
      name === 'hung' ? new Promise(() => undefined) : Promise.resolve(undefined),
    );
    const id = await board.startBulk({ action: 'stop' }, ['vm/lab/local/hung', 'vm/lab/local/web'], ann);
    await tasks.settled();
    tasks.clock.advance(15 * 60_000);
    await tasks.settled();
    expect(board.get(id)).toMatchObject({
      status: 'error',
      members: [
        { status: 'error', error: expect.stringMatching(/may still be carried out/) },
        { ref: 'vm/lab/local/web', status: 'done' },
      ],
    });
  });
});

describe('a step that can not be undone any more', () => {
  test('refuses a cancellation with the reason, and one that came before ends it', async () => {
    const tasks = new CopyTasks();
    let context!: StepContext<CopyInput>;
    const copy: Step = async (given) => {
      context = given;
      await new Promise((_resolve, reject) => given.signal.addEventListener('abort', () => reject(given.signal.reason as Error))); // prettier-ignore
    };
    const { board, start } = tasks.open({ copy });
    const id = await start();
    await tasks.settled();
    await context.commit('The disks of web are replaced.');
    expect(board.get(id)).toMatchObject({ cancelable: false, cancelRefusal: 'The disks of web are replaced.' });
    await expect(board.cancelTask(id, ann)).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: `The task ${id} can no longer be canceled: The disks of web are replaced.`,
    });
    expect(board.get(id).status).toBe('running');
    await board.close();

    const other = new CopyTasks();
    const second = other.open({ copy });
    const canceled = await second.start();
    await other.settled();
    const canceling = second.board.cancelTask(canceled, ann);
    await expect(context.commit('The disks of web are replaced.')).rejects.toThrow(/Canceled by ann/);
    await canceling;
    await other.settled();
    expect(second.board.get(canceled)).toMatchObject({ status: 'error', error: 'Canceled by ann.' });
  });
});
