import { DomainError, type Caller, type Resumption, type TaskJournal } from '@headgate/domain-contracts';
import type { FixedClock, MemoryTaskStore } from '@headgate/testing';
import { INTERRUPTED } from './running-task.js';
import { TaskBoard } from './task-board.js';
import {
  ann,
  CopyTasks,
  namesOf,
  copy,
  PATIENCE,
  untilAborted,
  type CopyInput,
  type Step,
} from './testing/copy-tasks.js';

describe('a defined task after a restart', () => {
  let store: MemoryTaskStore;
  let clock: FixedClock;
  let tasks: CopyTasks;

  beforeEach(() => {
    tasks = new CopyTasks();
    ({ store, clock } = tasks);
  });

  const openBoard = (...args: Parameters<CopyTasks['open']>) => tasks.open(...args);
  const settled = () => tasks.settled();
  const restart = (...args: Parameters<CopyTasks['restart']>) => tasks.restart(...args);

  /** Begins a task whose process is killed while it copies. */
  const killed = async (more: object = {}): Promise<string> => {
    const copy: Step = async ({ saveCheckpoint }) => {
      await saveCheckpoint({ blocks: 12 });
      return new Promise(() => undefined);
    };
    const id = await openBoard({ prepare: async () => 'ready', copy }, more).start();
    await settled();
    return id;
  };

  test('ends as interrupted if its kind can neither be resumed nor rolled back', async () => {
    const id = await killed();
    const { board } = openBoard({ copy: () => Promise.reject(new Error('must not run')) });
    await board.recover();
    board.resume();
    await settled();
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: INTERRUPTED,
      log: expect.stringMatching(/"copy" had begun/),
    });
  });

  test('repeats only the interrupted step, with the same parameters and its checkpoint', async () => {
    const id = await killed();
    const seen: unknown[] = [];
    await restart(
      {
        prepare: () => Promise.reject(new Error('must not run again')),
        copy: async ({ params, attempt, checkpoint, result }) => {
          seen.push(params, attempt, checkpoint, result('prepare'));
        },
      },
      {
        resume: async (journal: TaskJournal) => {
          seen.push(namesOf(journal));
          return { action: 'continue' };
        },
      },
    );
    expect(seen).toEqual([['prepare true', 'copy false'], { to: 'root-copy' }, 2, { blocks: 12 }, 'ready']);
    expect(store.get(id)).toMatchObject({ status: 'done', caller: 'ann', log: expect.stringMatching(/Resumed/) });
  });

  test('continues after the interrupted step if that had done its work', async () => {
    const id = await killed();
    const results: unknown[] = [];
    await restart(
      {
        copy: () => Promise.reject(new Error('must not run again')),
        switch: async ({ result }) => void results.push(result('copy')),
      },
      { resume: async () => ({ action: 'finished', result: { bytes: 7 } }) },
    );
    expect([results, store.get(id)?.status]).toEqual([[{ bytes: 7 }], 'done']);
  });

  test.each([
    ['without resume', undefined, INTERRUPTED],
    [
      'if resume decides so',
      { resume: async () => ({ action: 'rollback', reason: 'The copy is gone.' }) },
      'The copy is gone.',
    ],
    ['if resume fails', { resume: () => Promise.reject(new Error('lab does not answer.')) }, 'lab does not answer.'],
  ])('is rolled back %s', async (_title, more, error) => {
    const undone: string[][] = [];
    const rollback = async (journal: TaskJournal): Promise<void> => void undone.push(namesOf(journal));
    const id = await killed();
    await restart({ copy: () => Promise.reject(new Error('must not run')) }, { rollback, ...more });
    expect(undone).toEqual([['prepare true', 'copy false']]);
    expect(store.get(id)).toMatchObject({ status: 'error', error });
  });

  test('is rolled back if its caller had limited rights, which are not stored', async () => {
    const { board } = openBoard({}, { kind: 'bootc' });
    const copies = board.define<CopyInput>({
      kind: 'clone',
      steps: () => [{ name: 'copy', ...PATIENCE, run: () => new Promise(() => undefined) }],
    });
    const grant = { allowsRef: () => true };
    const id = await copies.start(copy, { ...ann, grant } as unknown as Caller);
    await settled();
    let undone = 0;
    const next = new TaskBoard(store, clock);
    next.define<CopyInput>({
      kind: 'clone',
      steps: () => [{ name: 'copy', ...PATIENCE, run: () => Promise.reject(new Error('must not run')) }],
      resume: async () => ({ action: 'continue' }),
      rollback: async () => void undone++,
    });
    await next.recover();
    next.resume();
    await settled();
    expect([undone, store.get(id)?.status, store.get(id)?.error]).toEqual([1, 'error', INTERRUPTED]);
  });

  test('repeats a rollback that was interrupted, five times at most', async () => {
    const id = await killed();
    let begun = 0;
    const rollback = (): Promise<void> => {
      begun++;
      return new Promise(() => undefined);
    };
    for (let start = 0; start < 8; start++) await restart({}, { rollback });
    expect(begun).toBe(5);
    expect(store.get(id)).toMatchObject({ status: 'error', error: expect.stringMatching(/interrupted 5 times/) });
  });

  test('does not repeat a step that was interrupted five times: it may kill the process', async () => {
    const id = await killed();
    let begun = 0;
    const copy: Step = () => {
      begun++;
      return new Promise(() => undefined);
    };
    for (let start = 0; start < 8; start++) await restart({ copy }, { resume: async () => ({ action: 'continue' }) });
    expect(begun).toBe(4);
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/"copy" was interrupted 5 times/),
    });
  });

  test('touches nothing if another release wrote its journal', async () => {
    const id = await killed({ version: 3 });
    let calls = 0;
    const count = async (): Promise<never> => {
      calls++;
      throw new Error('must not run');
    };
    await restart({ copy: count }, { version: 2, resume: count, rollback: count });
    expect(calls).toBe(0);
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: INTERRUPTED,
      log: expect.stringMatching(/version 3; this release continues version 2/),
    });
  });

  test('ends as interrupted if its journal is damaged', async () => {
    const id = await killed();
    await store.put(store.get(id)!, { version: 1 } as TaskJournal);
    await restart({}, { resume: async () => ({ action: 'continue' }) });
    expect(store.get(id)).toMatchObject({ error: INTERRUPTED, log: expect.stringMatching(/can't be read/) });
  });

  test('continues after a shutdown, which interrupts its step', async () => {
    const { board, start } = openBoard({ copy: untilAborted }, { resume: async () => ({ action: 'continue' }) });
    const id = await start();
    await settled();
    await board.close();
    expect(store.get(id)).toMatchObject({ status: 'running', finishedAt: null });
    await restart({}, { resume: async () => ({ action: 'continue' }) });
    expect(store.get(id)?.status).toBe('done');
  });

  describe('whose backend is away', () => {
    const away = new DomainError('BACKEND_UNREACHABLE', 'lab: no route to host.');
    const goOn = async (): Promise<Resumption> => ({ action: 'continue' });
    const later = async (milliseconds: number): Promise<void> => {
      clock.advance(milliseconds);
      await settled();
    };
    let isAway: boolean;
    beforeEach(() => (isAway = true));
    const answers = async <T>(work: () => Promise<T>): Promise<T> => {
      if (isAway) throw away;
      return work();
    };
    const linesOf = (board: TaskBoard, id: string): string[] =>
      board
        .get(id)
        .log.split('\n')
        .filter((line) => line.includes('no route to host'));

    test('continues when that is back, and logs once that it waits', async () => {
      const id = await killed();
      const board = await restart({}, { resume: () => answers(goOn) });
      await later(10_000);
      await later(10_000);
      expect(board.get(id).status).toBe('running');
      expect(linesOf(board, id)).toEqual([expect.stringContaining('lab: no route to host. Trying again.')]);
      isAway = false;
      await later(10_000);
      expect(store.get(id)).toMatchObject({ status: 'done', error: '' });
    });

    test('waits also before it is rolled back', async () => {
      const id = await killed();
      let undone = 0;
      const rollback = () => answers(async () => void undone++);
      const board = await restart({}, { rollback });
      await later(10_000);
      expect([board.get(id).status, undone]).toEqual(['running', 0]);
      isAway = false;
      await later(10_000);
      expect([store.get(id)?.status, store.get(id)?.error, undone]).toEqual(['error', INTERRUPTED, 1]);
    });

    test.each([
      ['to continue', { resume: () => answers(goOn) }, 'done'],
      ['to be rolled back', { rollback: () => answers(async () => undefined) }, 'error'],
    ])('is left to the next start if the service stops while it waits %s', async (_what, definition, status) => {
      const id = await killed();
      const board = await restart({}, definition);
      await board.close();
      expect(store.get(id)).toMatchObject({ status: 'running', finishedAt: null });
      isAway = false;
      await restart({}, definition);
      expect(store.get(id)?.status).toBe(status);
    });

    test('ends after an hour, with the reason', async () => {
      const id = await killed();
      const board = await restart({}, { resume: () => answers(goOn), rollback: () => answers(async () => undefined) });
      for (let minute = 0; minute < 59; minute++) await later(60_000);
      expect(board.get(id).status).toBe('running');
      // Another hour for the rollback.
      for (let minute = 0; minute < 62; minute++) await later(60_000);
      expect(store.get(id)).toMatchObject({
        status: 'error',
        error: 'lab: no route to host. The rollback failed: lab: no route to host.',
      });
    });

    test('is rolled back immediately for any other failure', async () => {
      const id = await killed();
      const fails = async (): Promise<Resumption> => {
        throw new DomainError('BACKEND_FAILED', 'The pool is damaged.');
      };
      await restart({}, { resume: fails, rollback: async () => undefined });
      expect(store.get(id)).toMatchObject({ status: 'error', error: 'The pool is damaged.' });
    });
  });

  test('ends at the shutdown if it could not continue', async () => {
    const { board, start } = openBoard({ copy: untilAborted });
    const id = await start();
    await settled();
    await board.close();
    expect(store.get(id)).toMatchObject({ status: 'error', error: INTERRUPTED });
  });
});
