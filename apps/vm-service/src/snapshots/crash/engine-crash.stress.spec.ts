import { join } from 'node:path';
import { parseRef } from '@headgate/domain-contracts';
import { NodeProgram } from '@headgate/testing';
import { MovingClusters } from '../../moves/testing/moving-clusters.js';
import type { EngineProcessParams, EngineOutcome } from './engine-process.js';

/** Two processes run for each moment. */
const TIMEOUT_MS = 600_000;
const CONCURRENT_WORLDS = 3;

type Action = EngineProcessParams['action'];

interface Found {
  readonly status: string;
  readonly node: string | undefined;
  /** `kind/name phase` of the objects of operations. */
  readonly objects: readonly string[];
  readonly copy: string;
}

describe('an operation of a cluster whose process is killed', () => {
  let program: NodeProgram;
  let clusters: MovingClusters;
  let count = 0;

  beforeAll(async () => {
    program = await NodeProgram.build(join(import.meta.dirname, 'engine-process.ts'));
    clusters = await MovingClusters.open();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await clusters?.close();
    await program?.close();
  });

  const openWorld = async (action: Action) => {
    const index = count++;
    const given = `vm-${index}`;
    const ref = action === 'migrate' ? await clusters.givenMigratable(given) : await clusters.givenRunningVm(given);
    const { name } = parseRef(ref);
    if (action === 'restore' || action === 'delete-snapshot') await clusters.givenSnapshot(name, `${name}-one`);
    if (action === 'clone') await clusters.givenStopped(name);
    const params = { database: join(program.folder, `world-${index}.db`), kubeconfig: clusters.kubeconfigs.alpha, ref, action }; // prettier-ignore
    const call = (more: Partial<EngineProcessParams>): Promise<string> =>
      program.run(JSON.stringify({ ...params, isFirst: true, ...more }));
    const complete = async (isFirst: boolean) => JSON.parse(await call({ isFirst })) as EngineOutcome;
    const before = clusters.nodeOf(name);
    return {
      name,
      before,
      complete,
      found: (): Found => ({
        status: clusters.stateOf('alpha', name).status,
        node: clusters.nodeOf(name),
        objects: clusters.operationsOf(name),
        copy: clusters.stateOf('alpha', `${name}-copy`).status,
      }),
      kill: (killAt: string, isFirst = true) =>
        expect(call({ killAt, isFirst })).rejects.toMatchObject({ signal: 'SIGKILL' }),
    };
  };
  type World = Awaited<ReturnType<typeof openWorld>>;

  /** The operation was carried out once. */
  const expectDone = async (action: Action, world: World): Promise<void> => {
    // The guest of a restored VM boots.
    if (action !== 'clone') await clusters.untilRunning(world.name);
    DONE[action](world);
  };
  const DONE: Readonly<Record<Action, (world: World) => void>> = {
    snapshot: ({ name, found }) =>
      expect(found()).toMatchObject({
        status: 'Running',
        objects: [`VirtualMachineSnapshot/${name}-two Succeeded`],
      }),
    restore: ({ name, found }) =>
      expect(found()).toMatchObject({
        status: 'Running',
        objects: [
          expect.stringMatching(/^VirtualMachineRestore\/\S+ true$/),
          `VirtualMachineSnapshot/${name}-one Succeeded`,
        ],
      }),
    'delete-snapshot': ({ found }) => expect(found()).toMatchObject({ status: 'Running', objects: [] }),
    clone: ({ found }) =>
      expect(found()).toMatchObject({
        status: 'Stopped',
        copy: 'Stopped',
        objects: [expect.stringMatching(/^VirtualMachineClone\/\S+ Succeeded$/)],
      }),
    migrate: ({ before, found }) => {
      const { node, ...rest } = found();
      expect(node).not.toBe(before);
      expect(rest).toMatchObject({
        status: 'Running',
        objects: [expect.stringMatching(/^VirtualMachineInstanceMigration\/\S+ Succeeded$/)],
      });
    },
  };

  const inTurn = async (moments: readonly string[], check: (moment: string) => Promise<void>): Promise<void> => {
    const left = [...moments];
    const worker = async (): Promise<void> => {
      for (let moment = left.shift(); moment !== undefined; moment = left.shift()) await check(moment);
    };
    await Promise.all(Array.from({ length: CONCURRENT_WORLDS }, worker));
  };

  test.each<Action>(['snapshot', 'restore', 'delete-snapshot', 'clone', 'migrate'])(
    'is completed once by the same task, which reserves the VM all the time: %s',
    async (action) => {
      const first = await openWorld(action);
      const { writes } = await first.complete(true);
      await expectDone(action, first);
      expect(
        writes.filter((write) => write !== 'other').map((write) => write.split(' ').slice(0, 2).join(' ')),
      ).toEqual(['begin Request', 'end Request', 'begin Follow', 'end Follow']);
      const moments = writes.flatMap((_write, index) => [`before:${index + 1}`, `after:${index + 1}`]);
      await inTurn(moments, async (moment) => {
        const world = await openWorld(action);
        await world.kill(moment);
        const { tasks, reservedBy, refusal } = await world.complete(false);
        const [task] = tasks;
        if (moment === 'before:1') return expect(tasks).toEqual([]);
        expect([moment, tasks.length, task?.status, task?.error]).toEqual([moment, 1, 'done', '']);
        await expectDone(action, world);
        if (moment === `after:${writes.length}`) return expect(reservedBy).toBeUndefined();
        expect([moment, reservedBy]).toEqual([moment, task?.id]);
        expect(refusal).toContain(`(task ${task?.id})`);
      });
    },
    TIMEOUT_MS,
  );

  test(
    'is completed once when the process that continues it is killed as well',
    async () => {
      await inTurn(['restore after:2', 'restore after:4', 'clone after:4', 'migrate after:2'], async (params) => {
        const [action, moment = ''] = params.split(' ') as [Action, string];
        const world = await openWorld(action);
        await world.kill(moment);
        await world.kill('before:2', false);
        const { tasks } = await world.complete(false);
        expect([params, tasks[0]?.status, tasks[0]?.error]).toEqual([params, 'done', '']);
        await expectDone(action, world);
      });
    },
    TIMEOUT_MS,
  );
});
