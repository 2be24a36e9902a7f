import type { StepContext, TaskJournal } from '@headgate/domain-contracts';
import type { FixedClock, MemoryTaskStore } from '@headgate/testing';
import {
  ann,
  bob,
  CopyTasks,
  never,
  copy,
  PATIENCE,
  untilAborted,
  namesOf,
  type CopyInput,
  type Step,
} from './testing/copy-tasks.js';

describe('a defined task', () => {
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

  test('journals each step with its parameters before it runs, and its result after it', async () => {
    const seen: unknown[] = [];
    const journals: (TaskJournal | undefined)[] = [];
    const { board, start } = openBoard({
      prepare: async ({ task }) => {
        journals.push(store.journal(task));
        return { bytes: 70 };
      },
      copy: async ({ task, input, params, attempt, checkpoint, caller, result }) => {
        seen.push(input, params, attempt, checkpoint, caller, result<{ bytes: number }>('prepare').bytes);
        expect(() => result('switch')).toThrow(/not finished/);
        journals.push(store.journal(task));
      },
    });
    const id = await start();
    expect(store.get(id)).toMatchObject({ kind: 'move', status: 'running', caller: 'ann', ref: copy.ref, steps: [] });
    const caller = { login: 'ann', name: 'Ann' };
    expect(store.journal(id)).toEqual({ task: id, version: 1, caller, input: { disk: 'root' }, steps: [] });
    await settled();
    expect(journals.map((journal) => journal?.steps)).toEqual([
      [{ name: 'prepare', params: {}, attempts: 1, isFinished: false }],
      [
        { name: 'prepare', params: {}, attempts: 1, isFinished: true, result: { bytes: 70 } },
        { name: 'copy', params: { to: 'root-copy' }, attempts: 1, isFinished: false },
      ],
    ]);
    expect(seen).toEqual([{ disk: 'root' }, { to: 'root-copy' }, 1, undefined, ann, 70]);
    expect(board.get(id)).toMatchObject({ status: 'done', progress: 1, error: '', log: 'prepare\ncopy\nswitch' });
    expect(board.get(id).steps.map(({ name, finishedAt }) => [name, finishedAt !== undefined])).toEqual([
      ['prepare', true],
      ['copy', true],
      ['switch', true],
    ]);
    expect(store.journal(id)).toBeUndefined();
  });

  test('reports the result of the definition', async () => {
    const result = ({ steps }: TaskJournal): object => ({ downtimeMs: (steps[2]?.result as { ms: number }).ms });
    const { start } = openBoard({ switch: async () => ({ ms: 42 }) }, { result });
    const id = await start();
    await settled();
    expect(store.get(id)?.result).toEqual({ downtimeMs: 42 });
  });

  test('reports bytes with the speed of the last seconds and the remaining time', async () => {
    const reports: StepContext<CopyInput>[] = [];
    const { board, start } = openBoard({
      copy: (context) => {
        reports.push(context);
        return new Promise(() => undefined);
      },
    });
    const id = await start();
    await settled();
    const [context] = reports;
    context?.bytes(0, 1000);
    expect(board.get(id).transfer).toEqual({
      doneBytes: 0,
      totalBytes: 1000,
      bytesPerSecond: null,
      remainingSeconds: null,
    });
    clock.advance(2_000);
    context?.bytes(200, 1000);
    expect(board.get(id)).toMatchObject({
      progress: (1 + 8 * 0.2) / 10,
      transfer: { doneBytes: 200, totalBytes: 1000, bytesPerSecond: 100, remainingSeconds: 8 },
    });
    clock.advance(60_000);
    context?.bytes(260);
    expect(board.get(id).transfer).toMatchObject({ totalBytes: null, remainingSeconds: null });
    context?.bytes(10, 1000);
    expect(board.get(id).transfer).toMatchObject({ doneBytes: 10, bytesPerSecond: null });
  });

  test('rolls back when a step fails, and reports the first error', async () => {
    const undone: string[][] = [];
    const rollback = async (journal: TaskJournal, { log }: { log(text: string): void }): Promise<void> => {
      undone.push(namesOf(journal));
      log('Removed the copy.');
    };
    const copy: Step = async () => {
      throw new Error('The network is down.');
    };
    const id = await openBoard({ copy }, { rollback }).start();
    await settled();
    expect(undone).toEqual([['prepare true', 'copy false']]);
    expect(store.get(id)).toMatchObject({ status: 'error', error: 'The network is down.' });
    expect(store.get(id)?.steps.map(({ name }) => name)).toEqual(['prepare', 'copy', 'rollback']);
    expect(store.get(id)?.log).toMatch(/Removed the copy\.\nRolled back\./);
  });

  test('reports a rollback that fails', async () => {
    const fails = async (): Promise<void> => {
      throw new Error('The copy is in use.');
    };
    const id = await openBoard({ copy: fails }, { rollback: fails }).start();
    await settled();
    expect(store.get(id)?.error).toBe('The copy is in use. The rollback failed: The copy is in use.');
  });

  test('names the step that had begun when there is no rollback', async () => {
    const copy: Step = async () => {
      throw new Error('No.');
    };
    const id = await openBoard({ copy }).start();
    await settled();
    expect(store.get(id)).toMatchObject({ error: 'No.', log: expect.stringMatching(/"copy" had begun/) });
  });

  describe('when it is canceled', () => {
    test('is rolled back after its step has ended, and names the caller', async () => {
      let undone = 0;
      const rollback = async (): Promise<void> => void undone++;
      const { board, start } = openBoard({ copy: untilAborted }, { rollback });
      const id = await start();
      await settled();
      expect(board.get(id).cancelable).toBe(true);
      await board.cancelTask(id, bob);
      expect(store.journal(id)?.canceledBy).toBe('bob');
      await board.cancelTask(id, ann);
      await settled();
      await board.cancelTask(id, ann);
      expect(store.get(id)).toMatchObject({ status: 'error', error: 'Canceled by bob.', canceledBy: 'bob' });
      expect(undone).toBe(1);
    });

    test('is not rolled back in a step that must not be interrupted', async () => {
      const { board, start } = openBoard({ switch: never });
      const id = await start();
      await settled();
      expect(board.get(id).cancelable).toBe(false);
      await expect(board.cancelTask(id, ann)).rejects.toThrow(
        expect.objectContaining({ code: 'WRONG_STATE', message: expect.stringMatching(/"switch"/) }),
      );
      expect(board.get(id)).not.toHaveProperty('canceledBy');
    });

    test('does not begin the next step, even if the canceled one succeeds', async () => {
      const gate = Promise.withResolvers<void>();
      let switched = false;
      const { board, start } = openBoard({
        copy: () => gate.promise,
        switch: async () => void (switched = true),
      });
      const id = await start();
      await settled();
      await board.cancelTask(id, ann);
      gate.resolve();
      await settled();
      expect([switched, store.get(id)?.error]).toEqual([false, 'Canceled by ann.']);
      expect(clock.pending).toBe(0);
    });

    test('stays running while its step does not stop, says so, and is rolled back after a restart', async () => {
      let undone = 0;
      const rollback = async (): Promise<void> => void undone++;
      const { board, start } = openBoard({ copy: never }, { rollback });
      const id = await start();
      await settled();
      await board.cancelTask(id, ann);
      clock.advance(30_000);
      expect(board.get(id)).toMatchObject({ status: 'running', log: expect.stringMatching(/has not stopped yet/) });
      const closed = board.close();
      clock.advance(5_000);
      await closed;
      expect(undone).toBe(0);
      await restart({}, { rollback, resume: async () => ({ action: 'continue' }) });
      expect([undone, store.get(id)?.status, store.get(id)?.error]).toEqual([1, 'error', 'Canceled by ann.']);
    });

    test('is not canceled if that can not be journaled', async () => {
      const { board, start } = openBoard({ copy: untilAborted });
      const id = await start();
      await settled();
      store.isFull = true;
      await expect(board.cancelTask(id, ann)).rejects.toThrow(expect.objectContaining({ code: 'NOT_READY' }));
      expect(board.get(id)).not.toHaveProperty('canceledBy');
      expect(board.get(id).status).toBe('running');
    });

    test('is left alone when its instance is deleted, which may be one of its steps', async () => {
      const { board, start } = openBoard({ copy: untilAborted });
      const id = await start();
      await settled();
      board.cancel({ kind: 'vm', context: 'lab', namespace: 'local', name: 'web' }, new Error('web was deleted.'));
      await settled();
      expect(board.get(id).status).toBe('running');
    });
  });

  test('runs no step that it cannot journal, and continues when the store can be written again', async () => {
    let copied = 0;
    const { board, start } = openBoard({
      prepare: async () => void (store.isFull = true),
      copy: async () => void copied++,
    });
    const id = await start();
    await settled();
    clock.advance(60_000);
    await settled();
    expect([copied, board.get(id).status]).toEqual([0, 'running']);
    expect(board.get(id).waiting).toBe("Its journal can't be written: database or disk is full");
    store.isFull = false;
    clock.advance(5_000);
    await settled();
    expect([copied, store.get(id)?.status]).toEqual([1, 'done']);
  });

  test('keeps the previous checkpoint if a new one can not be written', async () => {
    const saved: boolean[] = [];
    const { start } = openBoard({
      copy: async ({ saveCheckpoint }) => {
        saved.push(await saveCheckpoint({ blocks: 1 }));
        store.isFull = true;
        saved.push(await saveCheckpoint({ blocks: 2 }));
        return new Promise(() => undefined);
      },
    });
    const id = await start();
    await settled();
    expect([saved, store.journal(id)?.steps[1]?.checkpoint]).toEqual([[true, false], { blocks: 1 }]);
  });

  test('ignores reports of a step that has ended', async () => {
    let late: StepContext<CopyInput> | undefined;
    const { board, start } = openBoard({ prepare: async (context) => void (late = context), copy: never });
    const id = await start();
    await settled();
    const { log, progress, transfer } = board.get(id);
    late?.log('late');
    late?.progress(0.9);
    late?.bytes(1, 2);
    expect(await late?.saveCheckpoint({ late: true })).toBe(false);
    expect(board.get(id)).toMatchObject({ log, progress });
    expect(board.get(id).transfer).toEqual(transfer);
  });

  test('masks the secrets that its steps register, in the log and in the error', async () => {
    const copy: Step = async ({ mask, log }) => {
      mask('correct horse');
      log('login with correct horse');
      throw new Error('"correct horse" was refused');
    };
    const id = await openBoard({ copy }).start();
    await settled();
    expect(store.get(id)).toMatchObject({
      error: '"***" was refused',
      log: expect.stringMatching(/login with \*\*\*/),
    });
    expect(JSON.stringify(store.get(id))).not.toMatch(/correct horse/);
  });

  test('refuses a second definition of a kind, and steps with the same name', async () => {
    const { board } = openBoard({});
    expect(() => board.define({ kind: 'move', steps: () => [] })).toThrow(/already defined/);
    const twice = { name: 'copy', ...PATIENCE, run: async () => undefined };
    await expect(board.define({ kind: 'bootc', steps: () => [twice, twice] }).start(copy, ann)).rejects.toThrow(
      /different names/,
    );
    expect(store.recent(10)).toEqual([]);
  });
});
