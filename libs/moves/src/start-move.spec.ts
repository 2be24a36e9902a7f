import { DomainError, formatRef, type Caller } from '@headgate/domain-contracts';
import { ManualReplica, MemoryShutdownTimes } from '@headgate/testing';
import { MovesInProgress } from './moves-in-progress.js';
import { PlanMove } from './plan/plan-move.js';
import { ShutdownEstimates } from './estimates/shutdown-estimates.js';
import { StartMove } from './start-move.js';
import { Throughput } from './estimates/throughput.js';
import { Moving, refOf } from './testing/moving.js';

const ANN: Caller = { login: 'ann', name: 'Ann', admin: true };
const WEB = formatRef(refOf('web'));
const REQUEST = { ref: WEB, toBackend: 'memory', toContext: 'other' };

describe('the start of a move at several replicas', () => {
  let claims: Map<string, string>;
  let running: Set<string>;

  beforeEach(() => {
    claims = new Map();
    running = new Set();
  });

  /** A replica that does not see the tasks of the others yet, unless `sees` has their sources. */
  const join = (name: string, { fails = false, sees = new Set<string>() } = {}) => {
    const moving = new Moving();
    const inProgress = new MovesInProgress(
      (task) => running.has(task),
      (ref) => sees.has(ref),
      new ManualReplica(name, claims),
    );
    const plan = new PlanMove({
      directory: moving.directory,
      backends: moving.backends,
      inProgress,
      throughput: new Throughput(),
      shutdowns: new ShutdownEstimates(new MemoryShutdownTimes()),
    });
    let count = 0;
    const start = async (): Promise<string> => {
      if (fails) throw new DomainError('BACKEND_UNREACHABLE', 'The store does not answer.');
      const task = `${name}-${++count}`;
      running.add(task);
      return task;
    };
    const startMove = new StartMove(plan, { start }, inProgress, moving.auditor);
    return { inProgress, move: () => startMove.run(REQUEST, ANN) };
  };

  test('begins one of two that are accepted at the same time', async () => {
    const [a, b] = [join('a'), join('b')];
    const results = await Promise.allSettled([a.move(), b.move()]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find((result) => result.status === 'rejected')?.reason).toMatchObject({ code: 'BUSY' });
    expect(running.size).toBe(1);
  });

  test('begins none until the move of another replica has ended', async () => {
    const [a, b] = [join('a'), join('b')];
    const { task = '' } = await a.move();
    await expect(b.move()).rejects.toMatchObject({ code: 'BUSY' });
    // The end of another task of the same VM, from before.
    await a.inProgress.end(WEB, 'a-0');
    await expect(b.move()).rejects.toMatchObject({ code: 'BUSY' });
    running.delete(task);
    await b.inProgress.end(WEB, task);
    await a.inProgress.end(WEB, task);
    expect(await b.move()).toMatchObject({ task: 'b-1' });
  });

  test('does not begin a move whose task was taken over from a replica that is gone', async () => {
    const sees = new Set<string>();
    const b = join('b', { sees });
    const reserved = b.inProgress.reserve(WEB);
    sees.add(WEB);
    await expect(reserved).rejects.toMatchObject({ code: 'BUSY' });
    expect(claims.size).toBe(0);
  });

  test('leaves the VM to the others when its task can not be stored, or ends at once', async () => {
    await expect(join('a', { fails: true }).move()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(claims.size).toBe(0);
    const b = join('b');
    await b.inProgress.reserve(WEB);
    await b.inProgress.begin(WEB, 'has-ended');
    expect(claims.size).toBe(0);
  });
});
