import { join } from 'node:path';
import { INTERRUPTED } from '@headgate/tasks';
import { NodeProgram } from '@headgate/testing';
import { MovingClusters } from '../testing/moving-clusters.js';
import type { ProcessParams, ProcessOutcome } from '../testing/move-process.js';

/** Two processes run for each moment. */
const TIMEOUT_MS = 600_000;
const CONCURRENT_WORLDS = 3;

describe('a move whose process is killed', () => {
  let program: NodeProgram;
  let clusters: MovingClusters;
  let count = 0;

  beforeAll(async () => {
    program = await NodeProgram.build(join(import.meta.dirname, '../testing/move-process.ts'));
    clusters = await MovingClusters.open();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await clusters?.close();
    await program?.close();
  });

  /** A registry of its own and running VMs in `alpha`, on which processes run one after the other. */
  const openWorld = async (memberCount = 1) => {
    const index = count++;
    const names = Array.from({ length: memberCount }, (_none, member) => `web-${index}-${member}`);
    const refs = await Promise.all(names.map((name) => clusters.givenRunningVm(name)));
    const params = { database: join(program.folder, `world-${index}.db`), clusters: clusters.kubeconfigs };
    const call = (more: Partial<ProcessParams>): Promise<string> => program.run(JSON.stringify({ ...params, ...more }));
    const complete = async (more: Partial<ProcessParams> = {}) => JSON.parse(await call(more)) as ProcessOutcome;
    return {
      names,
      refs,
      complete,
      begin: () => complete({ refs }),
      kill: (killAt: string, isBegun = false) =>
        expect(call({ ...(!isBegun && { refs }), killAt })).rejects.toMatchObject({ signal: 'SIGKILL' }),
    };
  };
  type World = Awaited<ReturnType<typeof openWorld>>;

  /** The moments of a run, without those between two writes with no work between them. */
  const momentsOf = (writes: readonly string[]): string[] =>
    writes.flatMap((write, index) => [
      ...(index === 0 || write.startsWith('end ') ? [`before:${index + 1}`] : []),
      `after:${index + 1}`,
    ]);

  const inTurn = async (moments: readonly string[], check: (moment: string) => Promise<void>): Promise<void> => {
    const left = [...moments];
    const worker = async (): Promise<void> => {
      for (let moment = left.shift(); moment !== undefined; moment = left.shift()) await check(moment);
    };
    await Promise.all(Array.from({ length: CONCURRENT_WORLDS }, worker));
  };

  const destinationOf = (ref: string): string => ref.replace('/alpha/', '/beta/');

  /** Exactly one VM with its disks is left, stopped at the destination and in the folder of the source. */
  const expectMoved = (name: string, ref: string, { folders }: ProcessOutcome, moment: string): void => {
    expect([moment, clusters.stateOf('alpha', name), clusters.stateOf('beta', name)]).toEqual([
      moment,
      { status: 'absent', objects: [] },
      {
        status: 'Stopped',
        objects: [
          expect.stringMatching(/^DataVolume/),
          expect.stringMatching(/^PersistentVolumeClaim/),
          `VirtualMachine/${name}`,
        ],
      },
    ]);
    expect([moment, folders[ref], folders[destinationOf(ref)]]).toEqual([moment, undefined, 'prod']);
  };

  /** The source runs as before, and nothing is left at the destination. */
  const expectAsBefore = (name: string, ref: string, { folders }: ProcessOutcome, moment: string): void => {
    expect([moment, clusters.stateOf('alpha', name).status, clusters.stateOf('beta', name)]).toEqual([
      moment,
      'Running',
      { status: 'absent', objects: [] },
    ]);
    expect([moment, folders[ref], folders[destinationOf(ref)]]).toEqual([moment, 'prod', undefined]);
  };

  const checkWorld = async (
    { names: [name = ''], refs: [ref = ''] }: World,
    outcome: ProcessOutcome,
    moment: string,
  ) => {
    const [task] = outcome.tasks;
    if (!task) {
      expect(moment).toBe('before:1');
      return expectAsBefore(name, ref, outcome, moment);
    }
    // The truth and the task agree.
    if (task.status === 'done') return expectMoved(name, ref, outcome, moment);
    expect([moment, task.status, task.error]).toEqual([moment, 'error', expect.stringContaining(INTERRUPTED)]);
    expectAsBefore(name, ref, outcome, moment);
  };

  test(
    'is completed after the restart, whichever write of its journal was the last',
    async () => {
      const first = await openWorld();
      const { writes, ...outcome } = await first.begin();
      await checkWorld(first, { writes, ...outcome }, 'never');
      const steps = ['reserve', 'stop', 'copy', 'verify', 'commit', 'folder', 'delete'];
      expect(writes.filter((write) => write !== 'other')).toEqual(
        steps.flatMap((step) => [`begin ${step}`, `end ${step}`]),
      );
      await inTurn(momentsOf(writes), async (moment) => {
        const world = await openWorld();
        await world.kill(moment);
        const restarted = await world.complete();
        await checkWorld(world, restarted, moment);
        expect([moment, restarted.tasks[0]?.status]).toEqual([moment, moment === 'before:1' ? undefined : 'done']);
      });
    },
    TIMEOUT_MS,
  );

  test(
    'is completed when the process that continues it is killed as well',
    async () => {
      await inTurn(['after:2', 'before:3', 'after:4'], async (moment) => {
        const world = await openWorld();
        await world.kill('after:6');
        await world.kill(moment, true);
        await checkWorld(world, await world.complete(), moment);
      });
    },
    TIMEOUT_MS,
  );

  test(
    'as a member of a queue is completed with all others, each of them once',
    async () => {
      const first = await openWorld(2);
      const { writes } = await first.begin();
      const moments = momentsOf(writes);
      // Each step of a member was killed above.
      const every = Math.ceil(moments.length / 6);
      await inTurn(
        moments.filter((_moment, index) => index % every === every - 1),
        async (moment) => {
          const world = await openWorld(2);
          await world.kill(moment);
          const outcome = await world.complete();
          const queue = outcome.tasks.find(({ kind }) => kind === 'bulk');
          expect([moment, queue?.members?.map(({ status, error }) => [status, error])]).toEqual([
            moment,
            [
              ['done', undefined],
              ['done', undefined],
            ],
          ]);
          expect([moment, queue?.status, queue?.error]).toEqual([moment, 'done', '']);
          expect([moment, outcome.tasks.filter(({ kind }) => kind === 'move').length]).toEqual([moment, 2]);
          for (const [member, name] of world.names.entries())
            expectMoved(name, world.refs[member] ?? '', outcome, moment);
        },
      );
    },
    TIMEOUT_MS,
  );
});
