import {
  ADMINISTRATOR,
  Replicas,
  type Caller,
  type MemberWork,
  type ReplicaListener,
  type Task,
} from '@headgate/domain-contracts';
import { FixedClock, SharedTaskMemory } from '@headgate/testing';
import { addedLines } from './followed-task.js';
import { INTERRUPTED } from './running-task.js';
import { TaskBoard } from './task-board.js';
import { PATIENCE } from './testing/copy-tasks.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const ref = { kind: 'vm', context: 'lab', namespace: 'local', name: 'web' } as const;

/** A replica whose state the test sets. */
class TestReplica extends Replicas {
  isMember = true;
  isLeader = false;
  private readonly listeners = new Set<ReplicaListener>();

  constructor(
    override readonly id: string,
    private readonly gone: ReadonlySet<string>,
  ) {
    super();
  }

  override async isGone(id: string): Promise<boolean> {
    return this.gone.has(id);
  }

  override async claim(): Promise<string> {
    return this.id;
  }

  override async release(): Promise<void> {
    // Not used by tasks.
  }

  override subscribe(listener: ReplicaListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  leave(): void {
    this.isMember = false;
    for (const listener of this.listeners) listener.left?.();
  }

  join(): void {
    this.isMember = true;
    for (const listener of this.listeners) listener.joined?.();
  }
}

describe('the tasks of several replicas', () => {
  let memory: SharedTaskMemory;
  let clock: FixedClock;
  let gone: Set<string>;
  let effects: string[];
  let gate: PromiseWithResolvers<void>;

  beforeEach(() => {
    memory = new SharedTaskMemory();
    clock = new FixedClock();
    gone = new Set();
    effects = [];
    gate = Promise.withResolvers();
  });

  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 300; turn++) await Promise.resolve();
  };

  const join = async (id: string, isLeader = false) => {
    const replica = new TestReplica(id, gone);
    replica.isLeader = isLeader;
    const board = new TaskBoard(memory.join(id), clock, undefined, replica);
    const work: MemberWork = async (_order, { name }) => {
      effects.push(`${id} ${name}`);
      await gate.promise;
      return undefined;
    };
    board.defineBulk(work);
    const moves = board.define({
      kind: 'move',
      steps: () => [
        {
          name: 'copy',
          ...PATIENCE,
          isCancelable: true,
          run: async () => void (effects.push(`${id} copy`), await gate.promise),
        },
        { name: 'switch', ...PATIENCE, run: async () => void effects.push(`${id} switch`) },
      ],
      resume: async () => ({ action: 'continue' }),
    });
    const ended: Task[] = [];
    board.onEnd((task) => ended.push(task));
    await board.recover();
    board.resume();
    return { replica, board, ended, move: () => moves.start({ name: 'web', ref: 'vm/lab/local/web', input: {} }, ann) };
  };

  const tick = async (): Promise<void> => {
    clock.advance(2_000);
    await settled();
  };

  test('are visible in all of them, with their log while they run', async () => {
    const [a, b] = [await join('a'), await join('b', true)];
    const reports: ((line: string) => void)[] = [];
    const id = await a.board.start('create', ref, ann, (report) => {
      reports.push((line) => report.log(line));
      return gate.promise;
    });
    await settled();
    const live = b.board.live(id)!;
    let changes = 0;
    const unsubscribe = live.subscribe(() => changes++);
    reports[0]?.('first');
    reports[0]?.('second');
    clock.advance(1_000);
    await settled();
    expect(live.logSince(0)).toEqual({ offset: 0, text: 'first\nsecond\n', end: 13 });
    reports[0]?.('third');
    clock.advance(1_000);
    await settled();
    expect(live.logSince(13).text).toBe('third\n');
    gate.resolve();
    await settled();
    expect([live.summary.status, b.board.get(id).status, changes > 2]).toEqual(['done', 'done', true]);
    expect([a.ended, b.ended].map((tasks) => tasks.map(({ status }) => status))).toEqual([['done'], ['done']]);
    unsubscribe();
    expect(b.board.live(id)).toBeUndefined();
  });

  test('report their changes in all of them, without the log', async () => {
    const [a, b] = [await join('a'), await join('b', true)];
    const seen: string[] = [];
    b.board.subscribe(({ status, log }) => seen.push(`${status}${log}`));
    await a.board.start('create', ref, ann, (report) => {
      report.log('first');
      return gate.promise;
    });
    await settled();
    expect(new Set(seen)).toEqual(new Set(['running']));
    gate.resolve();
    await settled();
    expect(seen.at(-1)).toBe('done');
  });

  test('continue in the leader when their replica is gone, and nowhere before', async () => {
    const [a, b, c] = [await join('a'), await join('b', true), await join('c')];
    const id = await a.move();
    await settled();
    await tick();
    expect(effects).toEqual(['a copy']);
    gone.add('a');
    gate = Promise.withResolvers();
    await tick();
    expect([effects, memory.runners.get(id)]).toEqual([['a copy', 'b copy'], 'b']);
    gate.resolve();
    await settled();
    expect(effects).toEqual(['a copy', 'b copy', 'b switch']);
    expect(c.board.get(id)).toMatchObject({ status: 'done', log: expect.stringMatching(/Resumed/) });
    expect(b.ended.map((task) => task.id)).toEqual([id]);
  });

  test('continue in their own replica when it reaches the store again before it counts as gone', async () => {
    const [a, b] = [await join('a'), await join('b', true)];
    const id = await a.move();
    await settled();
    a.replica.leave();
    // The step ends only now, and the next one does not begin.
    await tick();
    expect(effects).toEqual(['a copy']);
    gate.resolve();
    await tick();
    expect([effects, a.board.get(id).status]).toEqual([['a copy'], 'running']);
    a.replica.join();
    await tick();
    expect(effects).toEqual(['a copy', 'a switch']);
    expect([memory.runners.get(id), b.board.get(id).status]).toEqual(['a', 'done']);
  });

  test('continue once when the leader takes them over while their own replica comes back', async () => {
    const [a, b] = [await join('a'), await join('b', true)];
    const id = await a.move();
    await settled();
    a.replica.leave();
    gate.resolve();
    await settled();
    gone.add('a');
    a.replica.join();
    await tick();
    await tick();
    expect(effects.filter((effect) => effect.endsWith('switch'))).toHaveLength(1);
    expect(b.board.get(id).status).toBe('done');
  });

  test('run no further step in a replica that was paused while they were taken over', async () => {
    const first = gate;
    const [a, b] = [await join('a'), await join('b', true)];
    const id = await a.move();
    await settled();
    await tick();
    gone.add('a');
    gate = Promise.withResolvers();
    await tick();
    // The paused replica continues.
    first.resolve();
    await settled();
    expect(effects).toEqual(['a copy', 'b copy']);
    gate.resolve();
    await settled();
    expect(effects).toEqual(['a copy', 'b copy', 'b switch']);
    expect([a.board.get(id).status, b.board.get(id).status]).toEqual(['done', 'done']);
  });

  test('carry out no member twice, whichever replica runs them', async () => {
    const first = gate;
    const [a] = [await join('a'), await join('b', true)];
    const refs = Array.from({ length: 20 }, (_none, index) => `vm/lab/local/v${index}`);
    const id = await a.board.startBulk({ action: 'stop' }, refs, ann);
    await settled();
    expect(effects).toHaveLength(8);
    gone.add('a');
    gate = Promise.withResolvers();
    gate.resolve();
    await tick();
    first.resolve();
    await settled();
    const names = effects.map((effect) => effect.split(' ')[1]);
    expect([names.length, new Set(names).size]).toEqual([20, 20]);
    expect(memory.tasks.get(id)).toMatchObject({ status: 'error', bulk: { counts: { done: 12, error: 8 } } });
  });

  test('of a queue are found by the replica that takes the queue over, and none begins twice', async () => {
    const open = async (id: string, isLeader = false) => {
      const replica = new TestReplica(id, gone);
      replica.isLeader = isLeader;
      const board = new TaskBoard(memory.join(id), clock, undefined, replica);
      board.defineBulk(async () => undefined);
      const move = board.define<{ name: string }>({
        kind: 'move',
        steps: () => [
          {
            name: 'copy',
            ...PATIENCE,
            run: async ({ input: { name }, attempt }) => {
              effects.push(`${id} ${name} ${attempt}`);
              await gate.promise;
            },
          },
        ],
        resume: async () => ({ action: 'continue' }),
      });
      board.defineQueue({
        kind: 'move',
        hostsOf: () => ['there'],
        start: async (_order, { name }, { task, caller }) =>
          void (await move.start({ id: task, name, ref: `vm/lab/local/${name}`, input: { name } }, caller)),
      });
      await board.recover();
      board.resume();
      return board;
    };
    const [a, b] = [await open('a'), await open('b', true)];
    const refs = ['v0', 'v1', 'v2'].map((name) => `vm/lab/local/${name}`);
    const id = await a.startBulk({ action: 'move', move: {}, perHost: 2 }, refs, ann);
    await settled();
    expect(effects).toEqual(['a v0 1', 'a v1 1']);
    await tick();
    gone.add('a');
    gate = Promise.withResolvers();
    await tick();
    await settled();
    expect(effects.slice(2).sort()).toEqual(['b v0 2', 'b v1 2']);
    gate.resolve();
    await settled();
    await settled();
    expect(effects.slice(4)).toEqual(['b v2 1']);
    expect(b.get(id)).toMatchObject({ status: 'done', bulk: { counts: { done: 3, running: 0 } } });
  });

  test('wait in the leader for the time of a bulk task when their replica is gone, and begin once', async () => {
    const [a, b] = [await join('a'), await join('b', true)];
    gate.resolve();
    const at = new Date(clock.now() + 3_600_000).toISOString();
    const id = await a.board.startBulk({ action: 'stop', atOnce: 1, at }, ['vm/lab/local/v0', 'vm/lab/local/v1'], ann);
    await settled();
    expect(b.board.get(id)).toMatchObject({ waiting: `Begins at ${at}.`, bulk: { at } });
    await tick();
    gone.add('a');
    await tick();
    expect([memory.runners.get(id), effects]).toEqual(['b', []]);
    expect(b.board.get(id)).toMatchObject({ status: 'running', waiting: `Begins at ${at}.` });
    clock.advance(3_600_000);
    await settled();
    await tick();
    // The first replica was not gone after all: its clock came to the time too.
    expect(effects).toEqual(['b v0', 'b v1']);
    expect(b.board.get(id)).toMatchObject({ status: 'done', bulk: { at, atOnce: 1, counts: { done: 2 } } });
  });

  test('end as interrupted if they have no journal', async () => {
    const [a, b] = [await join('a'), await join('b', true)];
    const id = await a.board.start('create', ref, ann, () => gate.promise);
    await settled();
    gone.add('a');
    await tick();
    expect(b.board.get(id)).toMatchObject({ status: 'error', error: INTERRUPTED });
    gate.resolve();
    await settled();
    clock.advance(60_000);
    await settled();
    expect(a.board.get(id)).toMatchObject({ status: 'error', error: INTERRUPTED });
  });

  test('stop in a replica that has left, and continue in it when it is the leader again', async () => {
    const a = await join('a', true);
    const refs = Array.from({ length: 10 }, (_none, index) => `vm/lab/local/v${index}`);
    const id = await a.board.startBulk({ action: 'stop' }, refs, ann);
    await settled();
    a.replica.leave();
    await expect(a.move()).rejects.toMatchObject({ code: 'NOT_READY' });
    gate.resolve();
    await settled();
    await tick();
    expect([effects.length, a.board.get(id).status]).toEqual([8, 'running']);
    a.replica.isMember = true;
    await tick();
    expect([new Set(effects).size, effects.length]).toEqual([10, 10]);
    expect(a.board.get(id)).toMatchObject({ status: 'done', bulk: { counts: { done: 10 } } });
  });

  test('can be canceled, paused and continued from every replica', async () => {
    const [a, b] = [await join('a'), await join('b', true)];
    const bulk = await a.board.startBulk({ action: 'stop' }, ['vm/lab/local/v0'], ann);
    await b.board.pauseBulk(bulk, true);
    await settled();
    expect(b.board.get(bulk)).toMatchObject({ waiting: 'Paused.', bulk: { paused: true } });
    await b.board.pauseBulk(bulk, false);
    await settled();
    expect(b.board.get(bulk).bulk?.paused).toBe(false);
    const move = await a.move();
    await settled();
    clock.advance(1_000);
    await settled();
    await b.board.cancelTask(move, { ...ann, login: 'bob' });
    await settled();
    gate.resolve();
    await settled();
    expect(a.board.get(move)).toMatchObject({ status: 'error', canceledBy: 'bob', error: 'Canceled by bob.' });
    expect(effects).not.toContain('a switch');
    await expect(b.board.pauseBulk(move, true)).rejects.toMatchObject({ code: 'WRONG_STATE' });
  });

  test('are refused a cancellation from another replica in a step that must not be interrupted', async () => {
    const [a, b] = [await join('a'), await join('b')];
    const id = await a.board.start('create', ref, ann, () => gate.promise);
    await settled();
    await expect(b.board.cancelTask(id, ann)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await expect(b.board.pauseBulk(id, true)).rejects.toMatchObject({ code: 'WRONG_STATE' });
  });
});

describe('the lines that a log has gained', () => {
  test.each([
    ['', 'a\nb', 'a\nb'],
    ['a\nb', 'a\nb', ''],
    ['a\nb', 'a\nb\nc', 'c'],
    ['a\nb', 'a\nbc', 'a\nbc'],
    ['a\nb\nc', '[1 earlier lines were cut]\nb\nc\nd', '[1 earlier lines were cut]\nb\nc\nd'],
    ['a\nb\nc\nd\ne\nf', '[1 earlier lines were cut]\nb\nc\nd\ne\nf\ng\nh', 'g\nh'],
  ])('after %j, %j has %j', (before, after, added) => expect(addedLines(before, after)).toBe(added));
});
