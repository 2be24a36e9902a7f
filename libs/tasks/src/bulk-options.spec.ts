import { ADMINISTRATOR, type BulkRequest, type Caller, type MemberWork } from '@headgate/domain-contracts';
import { FixedClock, MemoryTaskStore } from '@headgate/testing';
import { TaskBoard } from './task-board.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const refsOf = (count: number): string[] => Array.from({ length: count }, (_none, index) => `vm/lab/local/v${index}`);
const HOUR_MS = 3_600_000;

describe('the options of a bulk task', () => {
  let store: MemoryTaskStore;
  let clock: FixedClock;
  let board: TaskBoard;
  let begun: string[];
  let gates: Map<string, PromiseWithResolvers<void>>;

  /** Each member waits until the test ends it. */
  const work: MemberWork = async (_order, { name }) => {
    begun.push(name);
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    await gate.promise;
    return undefined;
  };
  const openBoard = (): TaskBoard => {
    const opened = new TaskBoard(store, clock);
    opened.defineBulk((...args) => work(...args));
    return opened;
  };
  const restart = async (): Promise<TaskBoard> => {
    const next = openBoard();
    await next.recover();
    next.resume();
    await settled();
    return next;
  };
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 200; turn++) await Promise.resolve();
  };
  const finish = async (name: string, error?: string): Promise<void> => {
    if (error === undefined) gates.get(name)?.resolve();
    else gates.get(name)?.reject(new Error(error));
    await settled();
  };
  const start = async (order: Partial<BulkRequest>, count = 5): Promise<string> => {
    const id = await board.startBulk({ action: 'restart', ...order }, refsOf(count), ann);
    await settled();
    return id;
  };
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString();

  beforeEach(() => {
    store = new MemoryTaskStore();
    clock = new FixedClock();
    begun = [];
    gates = new Map();
    board = openBoard();
  });

  test('atOnce: works on so many members at the same time, also after a restart', async () => {
    const id = await start({ atOnce: 2 });
    expect(begun).toEqual(['v0', 'v1']);
    await finish('v1');
    expect(begun).toEqual(['v0', 'v1', 'v2']);
    expect(board.get(id).bulk).toMatchObject({ atOnce: 2, counts: { running: 2, done: 1 } });
    // Killed here.
    begun = [];
    await restart();
    expect(begun).toEqual(['v3', 'v4']);
    expect((await start({ atOnce: 64 }, 70)).length > 0 && begun.length).toBe(66);
  });

  test('stopOnError: begins no further member after a failure, finishes those that run, and reports the skipped ones', async () => {
    const id = await start({ atOnce: 2, stopOnError: true });
    await finish('v0', 'It is gone.');
    expect(store.get(id)?.status).toBe('running');
    expect(begun).toEqual(['v0', 'v1']);
    await finish('v1');
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: '1 of 5 failed, so 3 did not begin.',
      bulk: { stopOnError: true, counts: { waiting: 0, running: 0, done: 1, error: 1, skipped: 3 } },
    });
    expect(store.get(id)?.members?.[2]).toEqual({
      ref: 'vm/lab/local/v2',
      status: 'skipped',
      error: '1 of 5 failed, so 3 did not begin.',
    });
    expect(begun).toEqual(['v0', 'v1']);
  });

  test('stopOnError: ends a paused task when a member that ran fails', async () => {
    const id = await start({ atOnce: 1, stopOnError: true });
    await board.pauseBulk(id, true);
    await finish('v0', 'It is gone.');
    expect(store.get(id)).toMatchObject({ status: 'error', bulk: { counts: { error: 1, skipped: 4 } } });
  });

  test('stopOnError: a member whose outcome a kill has hidden is a failure', async () => {
    const id = await start({ atOnce: 2, stopOnError: true });
    begun = [];
    await restart();
    expect(begun).toEqual([]);
    expect(store.get(id)).toMatchObject({ status: 'error', bulk: { counts: { error: 2, skipped: 3 } } });
  });

  test('stopOnError: a failure is not forgotten by a shutdown before the others have ended', async () => {
    const id = await start({ atOnce: 2, stopOnError: true });
    await finish('v0', 'It is gone.');
    const closed = board.close();
    await finish('v1');
    await closed;
    begun = [];
    await restart();
    expect(begun).toEqual([]);
    expect(store.get(id)).toMatchObject({ status: 'error', bulk: { counts: { done: 1, error: 1, skipped: 3 } } });
  });

  test('without stopOnError, a failure stops no other', async () => {
    const id = await start({ atOnce: 1 }, 2);
    await finish('v0', 'It is gone.');
    await finish('v1');
    expect(store.get(id)).toMatchObject({ error: '1 of 2 failed.', bulk: { counts: { done: 1, error: 1 } } });
  });

  describe('at', () => {
    test('begins no member before its time, and shows it in the task', async () => {
      const time = at(HOUR_MS);
      const id = await start({ at: time });
      expect(board.get(id)).toMatchObject({
        status: 'running',
        waiting: `Begins at ${time}.`,
        cancelable: true,
        steps: [{ name: `wait until ${time}` }],
        bulk: { at: time, counts: { waiting: 5 } },
      });
      clock.advance(HOUR_MS - 1);
      await settled();
      expect(begun).toEqual([]);
      clock.advance(1);
      await settled();
      expect(begun).toHaveLength(5);
      expect(board.get(id).waiting).toBeUndefined();
      expect(board.get(id).steps.map(({ name }) => name)).toEqual([`wait until ${time}`, 'restart']);
    });

    test('survives kills while it waits: it begins in its time, once, and immediately if that has passed', async () => {
      const time = at(HOUR_MS);
      const id = await start({ at: time });
      // Killed twice: the timers of these processes are gone.
      for (let kill = 0; kill < 2; kill++) {
        clock = new FixedClock(clock.now());
        board = await restart();
        expect(begun).toEqual([]);
        expect(board.get(id).waiting).toBe(`Begins at ${time}.`);
        clock.advance(60_000);
      }
      clock = new FixedClock(clock.now() + 10 * HOUR_MS);
      board = await restart();
      expect(begun).toHaveLength(5);
      for (const name of ['v0', 'v1', 'v2', 'v3', 'v4']) await finish(name);
      expect(store.get(id)).toMatchObject({ status: 'done', bulk: { at: time } });
    });

    test('survives a shutdown, which does not wait for it', async () => {
      const id = await start({ at: at(HOUR_MS) });
      await board.close();
      expect(store.get(id)).toMatchObject({ status: 'running', bulk: { counts: { waiting: 5, skipped: 0 } } });
      await restart();
      clock.advance(HOUR_MS);
      await settled();
      expect(begun).toHaveLength(5);
    });

    test('can be canceled while it waits, and begins nothing then, also after a restart', async () => {
      const id = await start({ at: at(HOUR_MS) });
      // Killed: the timers of the first process are gone.
      clock = new FixedClock(clock.now());
      await restart().then((next) => next.cancelTask(id, ann));
      await settled();
      expect(store.get(id)).toMatchObject({
        status: 'error',
        error: 'Canceled by ann.',
        bulk: { counts: { skipped: 5 } },
      });
      await restart();
      clock.advance(2 * HOUR_MS);
      await settled();
      expect([store.get(id)?.status, begun]).toEqual(['error', []]);
    });

    test('a cancellation at the moment of its begin leaves no member without a result', async () => {
      for (const isCanceledFirst of [true, false]) {
        begun = [];
        const id = await start({ at: at(HOUR_MS) });
        const cancel = (): Promise<void> => board.cancelTask(id, ann);
        const canceling = isCanceledFirst ? cancel() : undefined;
        clock.advance(HOUR_MS);
        await Promise.all([canceling ?? cancel()]);
        for (const name of [...begun]) await finish(name);
        await settled();
        for (const name of [...begun]) await finish(name);
        const { done, skipped, ...others } = store.get(id)?.bulk?.counts ?? ({} as never);
        expect([store.get(id)?.error, done + skipped, others]).toEqual([
          'Canceled by ann.',
          5,
          { waiting: 0, running: 0, error: 0 },
        ]);
        expect(done).toBe(begun.length);
      }
    });

    test('stays paused when its time comes, and waits for its time when it is continued before', async () => {
      const time = at(HOUR_MS);
      const id = await start({ at: time });
      await board.pauseBulk(id, true);
      expect(board.get(id).waiting).toBe('Paused.');
      await board.pauseBulk(id, false);
      expect(board.get(id).waiting).toBe(`Begins at ${time}.`);
      await board.pauseBulk(id, true);
      clock.advance(HOUR_MS);
      await settled();
      expect([begun, board.get(id).waiting]).toEqual([[], 'Paused.']);
      await board.pauseBulk(id, false);
      await settled();
      expect([begun.length, board.get(id).waiting]).toEqual([5, undefined]);
    });

    test('a clock that is set back does not stop members that have begun', async () => {
      const id = await start({ at: at(HOUR_MS), atOnce: 1 });
      clock.advance(HOUR_MS);
      await settled();
      expect(begun).toEqual(['v0']);
      // Killed, and the next process has a clock that is an hour late.
      clock = new FixedClock(clock.now() - HOUR_MS);
      board = await restart();
      expect(begun).toEqual(['v0', 'v1']);
      expect(board.get(id).waiting).toBeUndefined();
    });
  });
});
