import {
  ADMINISTRATOR,
  MemberSkipped,
  type BulkRequest,
  type Caller,
  type InstanceRef,
  type MemberTasks,
  type Task,
  type TaskMember,
} from '@headgate/domain-contracts';
import { FixedClock, MemoryTaskStore } from '@headgate/testing';
import { INTERRUPTED } from './running-task.js';
import { TaskBoard } from './task-board.js';
import { PATIENCE } from './testing/copy-tasks.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const MOVE: BulkRequest = { action: 'move', move: { toContext: 'there' }, perHost: 2 };
const DIFFERENT = 'vm/elsewhere/local/far';
const refsOf = (count: number): string[] => Array.from({ length: count }, (_none, index) => `vm/lab/local/v${index}`);

interface Input {
  readonly name: string;
}

/** Moves of VMs between two hosts; one moves when the test opens its gate. */
class Moves {
  /** The VMs whose move has begun, in order. */
  readonly begun: string[] = [];
  readonly undone: string[] = [];
  readonly refused = new Map<string, string>();
  readonly left = new Map<string, string>();
  /** The members with which the queue was called afterwards, as `name status`. */
  readonly after: string[][] = [];
  afterwards: () => Promise<void> = async () => undefined;
  private gates = new Map<string, PromiseWithResolvers<void>>();

  constructor(
    private readonly store: MemoryTaskStore,
    private readonly clock: FixedClock,
  ) {}

  open(canResume = true): TaskBoard {
    const board = new TaskBoard(this.store, this.clock);
    board.defineBulk(async () => undefined);
    const task = board.define<Input>({
      kind: 'move',
      steps: () => [
        { name: 'copy', ...PATIENCE, isCancelable: true, run: ({ input, signal }) => this.copy(input.name, signal) },
      ],
      rollback: async ({ input }) => void this.undone.push(input.name),
      ...(canResume && { resume: async () => ({ action: 'continue' }) as const }),
    });
    board.defineQueue({
      kind: 'move',
      hostsOf: (_order, { context }: InstanceRef) => [context, 'there'],
      start: async (_order, { name }, { task: id, caller }) => {
        const refusal = this.refused.get(name);
        if (refusal !== undefined) throw new Error(refusal);
        const reason = this.left.get(name);
        if (reason !== undefined) throw new MemberSkipped(reason);
        await task.start({ id, name, ref: `vm/lab/local/${name}`, input: { name } }, caller);
      },
      afterwards: (_order, members) => {
        this.after.push(members.map(({ ref, status }) => `${ref.slice(-2)} ${status}`));
        return this.afterwards();
      },
    } satisfies MemberTasks);
    return board;
  }

  gate(name: string): PromiseWithResolvers<void> {
    const known = this.gates.get(name) ?? Promise.withResolvers<void>();
    this.gates.set(name, known);
    return known;
  }

  /** The promises of a process that was killed never settle. */
  kill(): void {
    this.gates = new Map();
  }

  private async copy(name: string, signal: AbortSignal): Promise<void> {
    this.begun.push(name);
    const aborted = new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
    await Promise.race([this.gate(name).promise, aborted]);
  }
}

describe('a queue of tasks', () => {
  let store: MemoryTaskStore;
  let moves: Moves;
  let board: TaskBoard;

  beforeEach(() => {
    store = new MemoryTaskStore();
    moves = new Moves(store, new FixedClock());
    board = moves.open();
  });

  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 400; turn++) await Promise.resolve();
  };
  const finish = async (...names: string[]): Promise<void> => {
    for (const name of names) moves.gate(name).resolve();
    await settled();
  };
  const membersOf = (id: string): readonly TaskMember[] => store.get(id)?.members ?? [];
  const statuses = (id: string): string[] => membersOf(id).map(({ status }) => status);
  const children = (): Task[] => store.recent(100).filter(({ kind }) => kind === 'move');
  /** A restart after a kill: the store keeps what the first process wrote. */
  const restart = async (canResume = true): Promise<TaskBoard> => {
    moves.kill();
    const next = moves.open(canResume);
    await next.recover();
    next.resume();
    await settled();
    return next;
  };

  test('runs each member as a task of its own, as many at the same time as each host allows', async () => {
    const id = await board.startBulk(MOVE, refsOf(5), ann);
    await settled();
    expect(moves.begun).toEqual(['v0', 'v1']);
    expect(statuses(id)).toEqual(['running', 'running', 'waiting', 'waiting', 'waiting']);
    expect(membersOf(id)[0]?.task).toBe(children().find(({ ref }) => ref.endsWith('v0'))?.id);
    await finish('v1');
    expect(moves.begun).toEqual(['v0', 'v1', 'v2']);
    await finish('v0', 'v2', 'v3', 'v4');
    expect(store.get(id)).toMatchObject({ status: 'done', progress: 1, bulk: { action: 'move', counts: { done: 5 } } });
    expect(children()).toHaveLength(5);
  });

  test('counts the members of all queues on a host, and lets others overtake', async () => {
    const first = await board.startBulk({ ...MOVE, perHost: 1 }, refsOf(1), ann);
    await settled();
    const second = await board.startBulk({ ...MOVE, perHost: 1 }, ['vm/lab/local/late'], ann);
    await settled();
    expect(moves.begun).toEqual(['v0']);
    await finish('v0');
    expect(moves.begun).toEqual(['v0', 'late']);
    await finish('late');
    expect([store.get(first)?.status, store.get(second)?.status]).toEqual(['done', 'done']);
  });

  test('lets a member overtake that needs no host which is busy', async () => {
    const hostsOf = (_order: BulkRequest, { context }: InstanceRef): string[] => [context];
    const own = moves.open();
    const started: string[] = [];
    own.defineQueue({ kind: 'move', hostsOf, start: async (_order, { name }) => void started.push(name) });
    const gated = await own.startBulk({ ...MOVE, perHost: 1 }, [...refsOf(2), DIFFERENT], ann);
    await settled();
    // Their tasks do not exist, so each of them ends immediately; the order shows who came first.
    expect(started).toEqual(['v0', 'far', 'v1']);
    expect(store.get(gated)?.status).toBe('error');
  });

  test('records why a member was refused or failed, and continues with the others', async () => {
    moves.refused.set('v0', 'There is no space.');
    const id = await board.startBulk(MOVE, refsOf(3), ann);
    moves.gate('v1').reject(new Error('The disk is broken.'));
    await finish('v2');
    expect(store.get(id)).toMatchObject({ status: 'error', error: '2 of 3 failed.' });
    expect(membersOf(id)).toMatchObject([
      { status: 'error', error: 'There is no space.' },
      { status: 'error', error: 'The disk is broken.', task: expect.stringMatching(/^move-v1-/) },
      { status: 'done', task: expect.stringMatching(/^move-v2-/) },
    ]);
    expect(membersOf(id)[0]).not.toHaveProperty('task');
    expect(store.get(id)?.log).toMatch(/v1: The disk is broken/);
  });

  test('skips members with a reason, which is no failure unless it is that of all', async () => {
    moves.left.set('v0', 'Another move of it goes on.');
    const id = await board.startBulk(MOVE, refsOf(2), ann);
    await finish('v1');
    expect(membersOf(id)).toMatchObject([
      { status: 'skipped', error: 'Another move of it goes on.' },
      { status: 'done' },
    ]);
    expect(store.get(id)).toMatchObject({ status: 'done', bulk: { counts: { skipped: 1, done: 1, error: 0 } } });
    moves.left.set('v1', 'So does one of this.');
    const all = await board.startBulk(MOVE, refsOf(2), ann);
    await settled();
    expect(store.get(all)).toMatchObject({ status: 'error', error: 'All 2 were skipped.' });
  });

  test('calls the queue when its members have ended, and stays done if that fails', async () => {
    moves.refused.set('v0', 'There is no space.');
    moves.afterwards = () => Promise.reject(new Error('The clean-up can not begin.'));
    const id = await board.startBulk(MOVE, refsOf(2), ann);
    await settled();
    expect(moves.after).toEqual([]);
    await finish('v1');
    expect(moves.after).toEqual([['v0 error', 'v1 done']]);
    expect(store.get(id)).toMatchObject({ status: 'error', error: '1 of 2 failed.' });
    expect(store.get(id)?.log).toContain('The clean-up can not begin.');
  });

  test('does not call it after a cancellation, and again after a kill', async () => {
    const canceled = await board.startBulk(MOVE, refsOf(1), ann);
    await settled();
    await board.cancelTask(canceled, ann);
    await finish('v0');
    expect(moves.after).toEqual([]);
    moves.kill();
    moves.afterwards = () => new Promise(() => undefined);
    const killed = await board.startBulk(MOVE, refsOf(1), ann);
    await finish('v0');
    expect([moves.after.length, store.get(killed)?.status]).toEqual([1, 'running']);
    moves.afterwards = async () => undefined;
    await restart();
    expect([moves.after, store.get(killed)?.status]).toEqual([[['v0 done'], ['v0 done']], 'done']);
  });

  test('begins no further member while it is paused; those that run are finished', async () => {
    const id = await board.startBulk(MOVE, refsOf(4), ann);
    await settled();
    await board.pauseBulk(id, true);
    await finish('v0', 'v1');
    expect(moves.begun).toEqual(['v0', 'v1']);
    expect(board.get(id).members?.map(({ status }) => status)).toEqual(['done', 'done', 'waiting', 'waiting']);
    await board.pauseBulk(id, false);
    await finish('v2', 'v3');
    expect(store.get(id)?.status).toBe('done');
  });

  test('finishes the members that run when it is canceled, and skips the others', async () => {
    const id = await board.startBulk(MOVE, refsOf(4), ann);
    await settled();
    await board.cancelTask(id, ann);
    await finish('v0', 'v1');
    expect(store.get(id)).toMatchObject({ status: 'error', error: 'Canceled by ann.' });
    expect(statuses(id)).toEqual(['done', 'done', 'skipped', 'skipped']);
    expect(moves.begun).toEqual(['v0', 'v1']);
  });

  test('continues after a kill with the members that had not begun, and with the tasks of those that had', async () => {
    const id = await board.startBulk(MOVE, refsOf(4), ann);
    await settled();
    moves.begun.length = 0;
    await restart();
    // The interrupted copies are repeated by their own tasks, and no second task was created.
    expect(moves.begun).toEqual(['v0', 'v1']);
    expect(children()).toHaveLength(2);
    await finish('v0', 'v1', 'v2', 'v3');
    expect(store.get(id)).toMatchObject({ status: 'done', bulk: { counts: { done: 4 } } });
    expect(children()).toHaveLength(4);
  });

  test('reports the rollback of an interrupted member, and carries out the others', async () => {
    const id = await board.startBulk(MOVE, refsOf(3), ann);
    await settled();
    await restart(false);
    expect(moves.undone.sort()).toEqual(['v0', 'v1']);
    await finish('v2');
    expect(membersOf(id)).toMatchObject([
      { status: 'error', error: INTERRUPTED },
      { status: 'error', error: INTERRUPTED },
      { status: 'done' },
    ]);
  });

  test('starts the task of a member that was journaled before a kill, but had not begun', async () => {
    const id = await board.startBulk(MOVE, refsOf(1), ann);
    await settled();
    const [member] = membersOf(id);
    const [queue, journal] = [store.get(id), store.journal(id)];
    // As if the process had ended between the two writes.
    store = new MemoryTaskStore();
    await store.put(queue as Task, journal);
    moves = new Moves(store, new FixedClock());
    await restart();
    expect(moves.begun).toEqual(['v0']);
    await finish('v0');
    expect(membersOf(id)).toEqual([{ ref: 'vm/lab/local/v0', status: 'done', task: member?.task }]);
  });

  test('takes the result of a task that ended before a kill, without a repetition', async () => {
    const id = await board.startBulk(MOVE, refsOf(1), ann);
    await settled();
    const running = store.get(id);
    await finish('v0');
    const journal = { task: id, version: 1, caller: ann, input: MOVE, steps: [] };
    await store.put(running as Task, journal);
    moves.begun.length = 0;
    await restart();
    expect(moves.begun).toEqual([]);
    expect(store.get(id)).toMatchObject({ status: 'done', bulk: { counts: { done: 1 } } });
  });

  test('continues after a shutdown, and its members as well', async () => {
    const id = await board.startBulk(MOVE, refsOf(3), ann);
    await settled();
    await board.close();
    expect(store.get(id)).toMatchObject({ status: 'running', bulk: { counts: { running: 2, waiting: 1 } } });
    await restart();
    await finish('v0', 'v1', 'v2');
    expect(store.get(id)).toMatchObject({ status: 'done', bulk: { counts: { done: 3 } } });
    expect(children()).toHaveLength(3);
  });

  test('shows the end of members while it is paused after a restart', async () => {
    const id = await board.startBulk(MOVE, refsOf(3), ann);
    await settled();
    await board.pauseBulk(id, true);
    const next = await restart();
    await finish('v0', 'v1');
    expect(next.get(id)).toMatchObject({ status: 'running', bulk: { paused: true, counts: { done: 2, waiting: 1 } } });
    await next.pauseBulk(id, false);
    await finish('v2');
    expect(store.get(id)?.status).toBe('done');
  });

  test('begins nothing after a restart for a caller with limited rights, and reports how its members ended', async () => {
    const grant = { allowsRef: () => true };
    const id = await board.startBulk(MOVE, refsOf(3), { ...ann, grant } as unknown as Caller);
    await settled();
    moves.begun.length = 0;
    await restart();
    expect([moves.begun, moves.undone.sort()]).toEqual([[], ['v0', 'v1']]);
    expect(store.get(id)).toMatchObject({ status: 'error', error: INTERRUPTED });
    expect(statuses(id)).toEqual(['error', 'error', 'skipped']);
  });
});
