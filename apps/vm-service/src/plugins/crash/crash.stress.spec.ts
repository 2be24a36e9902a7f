import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Task } from '@headgate/domain-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import { FakePodman, type FakePodmanBehavior } from '@headgate/plugins/testing';
import type { BuildTarget } from './build-process.js';

const run = promisify(execFile);
const env = { ...process.env, NODE_OPTIONS: '' };
/** Two processes run for each moment. */
const TIMEOUT_MS = 600_000;
const NAMESPACE = 'tailvm';

interface Outcome {
  readonly writes: number;
  readonly tasks: readonly Task[];
  /** How often the VM was created, where it is a file. */
  readonly created: number;
}

let folder: string;
const closers: (() => void | Promise<void>)[] = [];
let count = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-build-crash-'));
  // A bundle, because the process that is killed must be plain Node.
  const vite = createRequire(import.meta.url)
    .resolve('vite/package.json')
    .replace('package.json', 'bin/vite.js');
  const args = ['build', '--ssr', join(import.meta.dirname, 'build-process.ts'), '--outDir', join(folder, 'program')];
  await run(process.execPath, [vite, ...args, '--config', join(import.meta.dirname, 'vite.config.js')], {
    cwd: import.meta.dirname,
    env,
  });
  const program = join(folder, 'program/build-process.js');
  await run(process.execPath, [program, join(folder, 'installed'), '{"podman":""}', 'install'], { env });
}, TIMEOUT_MS);

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

afterAll(() => rmSync(folder, { recursive: true }));

/** A new data folder with the plugin installed, on which processes run one after the other. */
const openData = (target: BuildTarget) => {
  const data = join(folder, `world-${count++}`);
  cpSync(join(folder, 'installed'), data, { recursive: true });
  const call = (phase: string, killAt: string) =>
    run(process.execPath, [join(folder, 'program/build-process.js'), data, JSON.stringify(target), phase, killAt], {
      env,
    });
  return {
    complete: async (phase: string): Promise<Outcome> => JSON.parse((await call(phase, '')).stdout) as Outcome,
    kill: (killAt: string, phase = 'start') => expect(call(phase, killAt)).rejects.toMatchObject({ signal: 'SIGKILL' }),
    builds: () => (existsSync(join(data, 'builds')) ? readdirSync(join(data, 'builds')) : []),
  };
};

const openLocal = (behavior: FakePodmanBehavior = {}) => {
  const podman = new FakePodman(behavior);
  closers.push(() => podman.close());
  const runs = () => podman.calls().filter(([first]) => first === 'run').length;
  return { ...openData({ podman: podman.program }), podman, runs };
};

/** A cluster in this process, which survives the killed ones. */
const openCluster = async (target: Omit<BuildTarget, 'kubeconfig'>) => {
  const [{ KubeSandbox }, { KubevirtSimulation }] = await Promise.all([
    import('@headgate/kube-sandbox'),
    import('@headgate/kubevirt-sandbox'),
  ]);
  const simulation = new KubevirtSimulation({ timeScale: 0 });
  const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
  closers.push(() => sandbox.close());
  const kubeconfig = join(folder, `kubeconfig-${count++}`);
  writeFileSync(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  let jobs = 0;
  sandbox.store.subscribe('jobs.batch', ({ type }) => {
    if (type === 'ADDED') jobs++;
  });
  const list = (resource: string) => sandbox.store.list<KubeObject>(resource, { namespace: NAMESPACE });
  return {
    ...openData({ ...target, kubeconfig }),
    simulation,
    sandbox,
    list,
    /** How many Jobs there ever were. */
    jobs: () => jobs,
    vms: () => list('virtualmachines.kubevirt.io'),
    disks: () => list('datavolumes.cdi.kubevirt.io'),
    /** What only a build needs. */
    left: () =>
      ['jobs.batch', 'pods', 'secrets'].flatMap((resource) =>
        list(resource).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      ),
  };
};

/** Before and after each write of the journal from the given one on, with two processes at a time. */
const forEachMoment = async (
  { first = 1, last }: { readonly first?: number; readonly last: number },
  check: (killAt: string) => Promise<void>,
): Promise<void> => {
  expect(last).toBeGreaterThan(5);
  const writes = Array.from({ length: last - first + 1 }, (_none, index) => first + index);
  const moments = writes.flatMap((write) => [`before:${write}`, `after:${write}`]);
  const worker = async (): Promise<void> => {
    for (let killAt = moments.shift(); killAt !== undefined; killAt = moments.shift()) await check(killAt);
  };
  await Promise.all([worker(), worker()]);
};

/** The writes of a build that fails differ from those of one that succeeds from its failure on. */
const FAILURE_WRITES = 4;

const endsOf = ({ tasks }: Outcome): string[] => tasks.map(({ status, error }) => `${status}${error && `: ${error}`}`);

describe('a bootc build on the machine of a service that is killed', () => {
  test(
    'continues at each journal step, builds and creates the VM once, and leaves no container and no disk',
    async () => {
      const { writes, created, tasks } = await openLocal().complete('start');
      expect([created, tasks.map(({ status }) => status)]).toEqual([1, ['done']]);
      await forEachMoment({ last: writes }, async (killAt) => {
        const world = openLocal();
        await world.kill(killAt);
        const outcome = await world.complete('restart');
        const [ends, once] = killAt === 'before:1' ? [[], 0] : [['done'], 1];
        const found = [endsOf(outcome), outcome.created, world.runs(), world.builds(), world.podman.container()];
        expect([killAt, ...found]).toEqual([killAt, ends, once, once, [], undefined]);
      });
    },
    TIMEOUT_MS,
  );

  test(
    'ends with the reason at each journal step since its failure, and leaves no container and no disk',
    async () => {
      const { writes } = await openLocal({ run: 'fails' }).complete('start');
      await forEachMoment({ first: writes - FAILURE_WRITES + 1, last: writes }, async (killAt) => {
        const world = openLocal({ run: 'fails' });
        await world.kill(killAt);
        const outcome = await world.complete('restart');
        const reason = 'error: The build failed with status 1: error: no space left on device';
        const found = [endsOf(outcome), outcome.created, world.builds(), world.podman.container()];
        expect([killAt, ...found]).toEqual([killAt, [reason], 0, [], undefined]);
      });
    },
    TIMEOUT_MS,
  );

  test(
    'follows the container that still runs to its end',
    async () => {
      const world = openLocal({ run: 'hangs' });
      await world.kill('log:Installing image');
      expect([world.builds().length, world.podman.container()?.isRunning]).toEqual([1, true]);
      world.podman.behave({});
      const outcome = await world.complete('restart');
      expect([endsOf(outcome), outcome.created, world.runs()]).toEqual([['done'], 1, 1]);
      expect([world.builds(), world.podman.container()]).toEqual([[], undefined]);
    },
    TIMEOUT_MS,
  );
});

describe('a bootc build in a cluster whose service is killed', () => {
  const openBuilding = () => openCluster({ podman: '', buildsInCluster: true });

  test(
    'continues at each journal step, builds and creates the VM once, and leaves nothing but the VM with its disk',
    async () => {
      const first = await openBuilding();
      const { writes, tasks } = await first.complete('start');
      expect([tasks.map(({ status }) => status), first.vms().length, first.jobs()]).toEqual([['done'], 1, 1]);
      await forEachMoment({ last: writes }, async (killAt) => {
        const world = await openBuilding();
        await world.kill(killAt);
        const outcome = await world.complete('restart');
        const [ends, once] = killAt === 'before:1' ? [[], 0] : [['done'], 1];
        const counts = [world.vms().length, world.jobs(), world.disks().length];
        expect([killAt, endsOf(outcome), ...counts, world.left()]).toEqual([killAt, ends, once, once, once, []]);
        const owners = world.disks().map(({ metadata }) => metadata.ownerReferences?.map(({ kind }) => kind));
        expect([killAt, owners]).toEqual([killAt, once === 1 ? [['VirtualMachine']] : []]);
      });
    },
    TIMEOUT_MS,
  );

  test(
    'ends with the reason at each journal step since its failure, and leaves no Job, Secret or disk',
    async () => {
      const openFailing = async () => {
        const world = await openBuilding();
        world.simulation.choosePrograms(() => ({ lines: ['error: no space left on device'], exitCode: 1 }));
        return world;
      };
      const { writes } = await (await openFailing()).complete('start');
      await forEachMoment({ first: writes - FAILURE_WRITES + 1, last: writes }, async (killAt) => {
        const world = await openFailing();
        await world.kill(killAt);
        const outcome = await world.complete('restart');
        const reason = 'error: The build failed: status 1: error: no space left on device.';
        const found = [endsOf(outcome), world.vms(), world.disks(), world.left()];
        expect([killAt, ...found]).toEqual([killAt, [reason], [], [], []]);
      });
    },
    TIMEOUT_MS,
  );

  test(
    'follows the Job that still runs to its end, and shows each line of its output once',
    async () => {
      const world = await openBuilding();
      const hold = Promise.withResolvers<void>();
      world.sandbox.store.subscribe('jobs.batch', ({ type, object }) => {
        if (type !== 'ADDED') return;
        const job = { namespace: NAMESPACE, name: object.metadata.name };
        world.simulation.faults.inject('container-hangs', job);
        void hold.promise.then(() => world.simulation.faults.clear('container-hangs', job));
      });
      await world.kill('log:Installation complete!');
      expect([world.jobs(), world.left().length]).toEqual([1, 3]);
      hold.resolve();
      const outcome = await world.complete('restart');
      expect([endsOf(outcome), world.vms().length, world.jobs(), world.left()]).toEqual([['done'], 1, 1, []]);
      expect(outcome.tasks[0]?.log).toContain('it is followed to its end');
    },
    TIMEOUT_MS,
  );
});

describe('a bootc disk that is sent to a cluster by a service that is killed', () => {
  test(
    'is sent again to a new VM, which takes the place of the incomplete one',
    async () => {
      const podman = new FakePodman({ diskBytes: 1024 ** 2 });
      closers.push(() => podman.close());
      const world = await openCluster({ podman: podman.program });
      const vm = { namespace: NAMESPACE, name: 'web' };
      world.simulation.faults.inject('upload-not-ready', vm);
      await world.kill('log:import');
      const [incomplete] = world.vms();
      expect(incomplete).toBeDefined();
      world.simulation.faults.clear('upload-not-ready', vm);
      const outcome = await world.complete('restart');
      expect(endsOf(outcome)).toEqual(['done']);
      expect(outcome.tasks[0]?.log).toContain('the incomplete VM is removed and created again');
      expect(world.vms().map(({ metadata }) => metadata.uid)).not.toEqual([incomplete?.metadata.uid]);
      expect([world.vms().length, world.disks().length, world.builds()]).toEqual([1, 1, []]);
      expect(podman.calls().filter(([first]) => first === 'run')).toHaveLength(1);
    },
    TIMEOUT_MS,
  );
});
