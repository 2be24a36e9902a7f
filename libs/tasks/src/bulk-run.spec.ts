import { ADMINISTRATOR, type Caller, type MemberWork } from '@headgate/domain-contracts';
import { FixedClock, MemoryTaskStore } from '@headgate/testing';
import { INTERRUPTED } from './running-task.js';
import { TaskBoard } from './task-board.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const bob: Caller = { login: 'bob', name: 'Bob', grant: ADMINISTRATOR };
const refsOf = (count: number): string[] => Array.from({ length: count }, (_none, index) => `vm/lab/local/v${index}`);

describe('a bulk task', () => {
  let store: MemoryTaskStore;
  let clock: FixedClock;
  let board: TaskBoard;
  /** The members whose work began, in order. */
  let begun: string[];
  let gate: PromiseWithResolvers<void>;

  /** Waits at the gate, then fails for names that end with 1. */
  const work: MemberWork = async (_order, { name }) => {
    begun.push(name);
    await gate.promise;
    if (name.endsWith('1')) throw new Error('It is gone.');
    return name.endsWith('2') ? `migrate-${name}-1` : undefined;
  };

  const openBoard = (): TaskBoard => {
    const opened = new TaskBoard(store, clock);
    opened.defineBulk((...args) => work(...args));
    return opened;
  };

  beforeEach(() => {
    store = new MemoryTaskStore();
    clock = new FixedClock();
    begun = [];
    gate = Promise.withResolvers();
    board = openBoard();
  });

  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 200; turn++) await Promise.resolve();
  };
  const statuses = (id: string): string[] => (store.get(id)?.members ?? []).map(({ status }) => status);

  test('journals each member before its work begins, and records the result of each', async () => {
    const id = await board.startBulk({ action: 'migrate' }, refsOf(10), ann);
    expect(id).toMatch(/^bulk-migrate-/);
    expect(store.get(id)).toMatchObject({
      ref: '',
      caller: 'ann',
      bulk: { action: 'migrate', counts: { waiting: 10, done: 0 } },
    });
    await settled();
    expect(begun).toHaveLength(8);
    expect(statuses(id)).toEqual([...Array<string>(8).fill('running'), 'waiting', 'waiting']);
    expect(board.recent(1)[0]).not.toHaveProperty('members');
    gate.resolve();
    await settled();
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: '1 of 10 failed.',
      progress: 1,
      log: 'migrate\nvm/lab/local/v1: It is gone.\n1 of 10 failed.',
      bulk: { counts: { waiting: 0, running: 0, done: 9, error: 1, skipped: 0 } },
    });
    expect(store.get(id)?.members?.slice(0, 3)).toEqual([
      { ref: 'vm/lab/local/v0', status: 'done' },
      { ref: 'vm/lab/local/v1', status: 'error', error: 'It is gone.' },
      { ref: 'vm/lab/local/v2', status: 'done', task: 'migrate-v2-1' },
    ]);
  });

  test('begins no further member when it is canceled, and finishes those that run', async () => {
    const id = await board.startBulk({ action: 'stop' }, refsOf(20), ann);
    await settled();
    await board.cancelTask(id, bob);
    await board.cancelTask(id, bob);
    await settled();
    expect(board.get(id)).toMatchObject({ status: 'running', canceledBy: 'bob', cancelable: false });
    gate.resolve();
    await settled();
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: 'Canceled by bob.',
      bulk: { counts: { done: 7, error: 1, skipped: 12, waiting: 0, running: 0 } },
    });
    expect(store.get(id)?.members?.at(-1)).toEqual({
      ref: 'vm/lab/local/v19',
      status: 'skipped',
      error: 'Canceled by bob.',
    });
    expect(begun).toHaveLength(8);
    await expect(board.pauseBulk(id, true)).rejects.toThrow(expect.objectContaining({ code: 'WRONG_STATE' }));
  });

  test('begins no further member while it is paused, also after a restart', async () => {
    const id = await board.startBulk({ action: 'stop' }, refsOf(10), ann);
    await settled();
    await board.pauseBulk(id, true);
    await board.pauseBulk(id, true);
    gate.resolve();
    await settled();
    expect(board.get(id)).toMatchObject({ status: 'running', waiting: 'Paused.', bulk: { paused: true } });
    expect(begun).toHaveLength(8);
    await board.close();
    const next = openBoard();
    await next.recover();
    next.resume();
    await settled();
    expect([next.get(id).status, begun.length]).toEqual(['running', 8]);
    await next.pauseBulk(id, false);
    await settled();
    expect(begun).toHaveLength(10);
    expect(store.get(id)).toMatchObject({ status: 'error', error: '1 of 10 failed.', bulk: { paused: false } });
    expect(store.get(id)).not.toHaveProperty('waiting');
  });

  test('can be canceled while it is paused', async () => {
    const id = await board.startBulk({ action: 'stop' }, refsOf(10), ann);
    gate.resolve();
    await board.pauseBulk(id, true);
    await settled();
    await board.cancelTask(id, ann);
    await settled();
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: 'Canceled by ann.',
      bulk: { counts: { skipped: 10 } },
    });
    expect(begun).toEqual([]);
  });

  test('continues after a kill with the members that had not begun, and does not claim to know about the others', async () => {
    const id = await board.startBulk({ action: 'stop' }, refsOf(10), ann);
    await settled();
    // The first process is killed here: its promises never settle, and the store keeps what it wrote.
    begun = [];
    gate = Promise.withResolvers();
    gate.resolve();
    const next = openBoard();
    await next.recover();
    next.resume();
    await settled();
    expect(begun).toEqual(['v8', 'v9']);
    const ended = store.get(id);
    expect(ended).toMatchObject({ status: 'error', error: '8 of 10 failed.', caller: 'ann' });
    expect(ended?.members?.map(({ status }) => status)).toEqual([...Array<string>(8).fill('error'), 'done', 'done']);
    expect(ended?.members?.[0]?.error).toMatch(/may have been carried out/);
  });

  test('continues after a shutdown, which waits for the members that run', async () => {
    const callers: string[] = [];
    const seen: MemberWork = async (_order, _ref, { login, grant }) =>
      void callers.push(`${login} ${grant.allowsAll('manage')}`);
    const id = await board.startBulk({ action: 'stop' }, refsOf(10), ann);
    await settled();
    const closed = board.close();
    gate.resolve();
    await closed;
    expect(store.get(id)).toMatchObject({ status: 'running', bulk: { counts: { done: 7, error: 1, waiting: 2 } } });
    const next = new TaskBoard(store, clock);
    next.defineBulk(seen);
    await next.recover();
    await expect(next.cancelTask(id, ann)).rejects.toThrow(/about to continue/);
    next.resume();
    await settled();
    expect(callers).toEqual(['ann true', 'ann true']);
    expect(store.get(id)).toMatchObject({ status: 'error', bulk: { counts: { done: 9, error: 1 } } });
  });

  test('does not continue after a restart for a caller with limited rights, which are not stored', async () => {
    class Rights {
      readonly itself = this;
      readonly allowsRef = (): boolean => true;
    }
    const limited = { ...ann, grant: new Rights() } as unknown as Caller;
    const seen: Caller[] = [];
    const first = new TaskBoard(store, clock);
    first.defineBulk(async (_order, _ref, caller) => {
      seen.push(caller);
      await gate.promise;
      return undefined;
    });
    const id = await first.startBulk({ action: 'stop' }, refsOf(10), limited);
    await settled();
    expect(seen[0]?.grant).toBe(limited.grant);
    expect(store.journal(id)).toMatchObject({ isLimited: true, caller: { login: 'ann', name: 'Ann' } });
    expect(store.journal(id)?.caller).not.toHaveProperty('grant');
    const next = openBoard();
    await next.recover();
    next.resume();
    await settled();
    expect(begun).toEqual([]);
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: INTERRUPTED,
      log: expect.stringMatching(/rights of its caller/),
      bulk: { counts: { error: 8, skipped: 2 } },
    });
  });

  test('ends as interrupted when the release can no longer carry it out', async () => {
    const id = await board.startBulk({ action: 'stop' }, refsOf(10), ann);
    await settled();
    await new TaskBoard(store, clock).recover();
    expect(store.get(id)).toMatchObject({
      status: 'error',
      error: INTERRUPTED,
      bulk: { counts: { error: 8, skipped: 2, running: 0, waiting: 0 } },
    });
  });

  test('begins no member that it cannot journal, and continues when the store can be written again', async () => {
    const id = await board.startBulk({ action: 'stop' }, refsOf(10), ann);
    await settled();
    store.isFull = true;
    gate.resolve();
    await settled();
    expect(begun).toHaveLength(8);
    expect(board.get(id).waiting).toMatch(/disk is full/);
    store.isFull = false;
    clock.advance(5_000);
    await settled();
    expect(begun).toHaveLength(10);
    expect(store.get(id)?.status).toBe('error');
    expect(store.get(id)).not.toHaveProperty('waiting');
  });

  test('masks secrets in the errors of its members', async () => {
    const leaking = new TaskBoard(store, clock);
    leaking.defineBulk(async () => {
      throw new Error('GET https://ann:hunter22@example.org failed');
    });
    const id = await leaking.startBulk({ action: 'stop' }, refsOf(1), ann);
    await settled();
    expect(JSON.stringify(store.get(id))).not.toMatch(/hunter22/);
  });
});
