import {
  ADMINISTRATOR,
  DomainError,
  formatRef,
  workOn,
  WorkTimes,
  type Caller,
  type TimedSteps,
  type Work,
} from '@headgate/domain-contracts';
import { Ledger } from '@headgate/reservations';
import { ManualReplica, MemoryShutdownTimes } from '@headgate/testing';
import type { MovePlan } from './plan/move-plan.js';
import { PlanMove } from './plan/plan-move.js';
import { planOfRefusal } from './plan/refused-move.js';
import { ShutdownEstimates } from './estimates/shutdown-estimates.js';
import { StartMove, type StartMoveDeps } from './start-move.js';
import { Throughput } from './estimates/throughput.js';
import { Moving, refOf } from './testing/moving.js';

const ANN: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const WEB = formatRef(refOf('web'));
const REQUEST = { ref: WEB, toBackend: 'memory', toContext: 'other' };

const SECONDS = { low: 2, high: 4, measured: 3 };

/** Knows the times of all work, and remembers for which variants it was asked. */
class KnownTimes extends WorkTimes {
  readonly asked: (string | undefined)[] = [];

  override during<T>(_work: Work, run: () => Promise<T>): Promise<T> {
    return run();
  }

  override record(): void {
    throw new Error('A move is measured as a task.');
  }

  override inPlan<P extends TimedSteps>({ variant }: Work, plan: P): P {
    this.asked.push(variant);
    return { ...plan, seconds: SECONDS, interruption: SECONDS };
  }
}

describe('the start of a move', () => {
  let claims: Map<string, string>;

  beforeEach(() => (claims = new Map()));

  /** A replica that does not see the tasks of the others yet. */
  const join = (name: string, { fails = false, times }: { fails?: boolean; times?: WorkTimes } = {}) => {
    const moving = new Moving();
    const { clock, directory, backends, auditor: audit } = moving;
    const reservations = new Ledger({ clock, replicas: new ManualReplica(name, claims), ...(times && { times }) });
    const throughput = new Throughput();
    const shutdowns = new ShutdownEstimates(new MemoryShutdownTimes());
    const planMove = new PlanMove({ directory, backends, reservations, throughput, shutdowns });
    let count = 0;
    const variants: (string | undefined)[] = [];
    const start: StartMoveDeps['task']['start'] = async ({ reservation, variant }) => {
      variants.push(variant);
      if (fails) throw new DomainError('BACKEND_UNREACHABLE', 'The store does not answer.');
      const task = `${name}-${++count}`;
      reservation?.giveTo(task);
      return task;
    };
    const startMove = new StartMove({ planMove, task: { start }, backends, reservations, audit });
    const move = () => startMove.run(REQUEST, undefined, ANN);
    return { moving, clock, reservations, startMove, variants, move };
  };

  test('reserves the source and the name of the copy until the task has ended', async () => {
    const { reservations, move } = join('a');
    const { task = '' } = await move();
    expect(reservations.taskOf(WEB)).toEqual({ operation: 'move', task });
    const copy = { ...refOf('web'), context: 'other' };
    for (const work of [workOn('tag', WEB), workOn('create', copy), workOn('delete', WEB)])
      await expect(reservations.acquire(work)).rejects.toMatchObject({ code: 'BUSY', details: { task } });
    reservations.endTask(task);
    (await reservations.acquire(workOn('tag', WEB))).release();
  });

  test('refuses a second one with all refusals of its plan', async () => {
    const { moving, move } = join('a');
    await move();
    await moving.lab.require('snapshots').create(refOf('web'), { name: 'one' });
    const refused = await move().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({
      code: 'MOVE_REFUSED',
      message: expect.stringMatching(/There are 1 more refusals\.$/),
    });
    const plan = planOfRefusal<MovePlan>(refused);
    expect(plan?.refusals.map(({ code }) => code).sort()).toEqual(['MOVE_IN_PROGRESS', 'SOURCE_HAS_SNAPSHOTS']);
  });

  test('promises the time of moves like it, and its own downtime', async () => {
    const times = new KnownTimes();
    const { startMove, variants, move } = join('a', { times });
    const plan = await startMove.plan(REQUEST, undefined);
    expect(plan).toMatchObject({ ok: true, seconds: SECONDS });
    expect(plan).not.toHaveProperty('interruption');
    await move();
    const variant = 'cold to other, stopped, up to 1 GiB';
    expect([times.asked, variants]).toEqual([[variant, variant], [variant]]);
  });

  test('begins one of two that replicas accept at the same time', async () => {
    const [a, b] = [join('a'), join('b')];
    expect(await a.move()).toMatchObject({ task: 'a-1' });
    const second = b.move();
    let hasEnded = false;
    const outcome = second.catch((error: unknown) => error).finally(() => (hasEnded = true));
    while (!hasEnded) {
      await new Promise((resolve) => setImmediate(resolve));
      b.clock.advance(200);
    }
    expect(await outcome).toMatchObject({ code: 'BUSY' });
  });

  test('reserves nothing when the task can not be stored', async () => {
    const { reservations, move } = join('a', { fails: true });
    await expect(move()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    (await reservations.acquire(workOn('delete', WEB))).release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(claims.size).toBe(0);
  });
});
