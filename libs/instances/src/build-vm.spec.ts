import {
  ADMINISTRATOR,
  buildPlan,
  DomainError,
  UnavailableAbility,
  formatRef,
  type Backend,
  type BuildContainer,
  type Caller,
  type CreationState,
  type DiskBuild,
  type DiskBuilder,
  type InstanceDirectory,
  type Plan,
  type TaskContext,
  type TaskDefinition,
  type TaskStart,
  type TaskJournal,
  type TaskRunner,
  workOn,
  type VmSpec,
} from '@headgate/domain-contracts';
import { Ledger } from '@headgate/reservations';
import { buildVm, FixedClock, recordingStepContext } from '@headgate/testing';
import { BUILD_STEPS, BuildVm, CONTEXT_BUILD_STEPS, type BuiltVmSpec } from './build-vm.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const spec: BuiltVmSpec = {
  ref: { kind: 'vm', context: 'local', namespace: 'local', name: 'web' },
  cpu: 2,
  memoryBytes: 4 * 1024 ** 3,
  diskBytes: 20 * 1024 ** 3,
  start: false,
  source: { kind: 'bootc', image: 'registry.example.org/a:1', sshKey: 'ssh-ed25519 AAAA' },
};
const TASK = 'bootc-web-1';
const DISK = `/builds/${TASK}/disk.raw`;
const VOLUME = { name: 'web-root-1', isBlockDevice: true };
const CREATION = '0b9c1e2a-0000-4000-8000-000000000000';

class Building {
  readonly done: string[] = [];
  readonly created: VmSpec[] = [];
  available: true | string = true;
  plan: Plan = buildPlan([{ name: 'define', detail: 'web' }]);
  /** What the backend has of the creation. */
  state: CreationState = 'absent';
  inContext = false;
  lost: DomainError | undefined;
  remaining: ((report: { step(name: string): void }) => Promise<void>) | undefined;
  definition!: TaskDefinition<BuiltVmSpec>;
  started: BuiltVmSpec = spec;

  private readonly disks: DiskBuilder = {
    availability: async () => this.available,
    plan: async () => [{ name: 'pull', detail: '' }],
    canPlan: () => this.available,
    planContainer: async ({ image }, { isBlockDevice }): Promise<BuildContainer> => ({
      image,
      command: [`block device: ${isBlockDevice}`],
      permissions: [],
      diskFile: '/disk',
      keysFile: '/keys',
    }),
    pull: async ({ image }) => void this.done.push(`pull ${image}`),
    install: async (id, { sshKey }) => `/builds/${(this.done.push(`install ${sshKey}`), id)}/disk.raw`,
    remove: async (id) => void this.done.push(`remove ${id}`),
  };
  readonly backend = {
    ability: () => (this.inContext ? {} : new UnavailableAbility('Disks are built by the service.')),
    require: (ability: string) => {
      if (this.lost) throw this.lost;
      return ability === 'diskBuilds' ? this.builds : this.provisioning;
    },
  } as unknown as Backend;
  private readonly provisioning = {
    planCreate: async () => this.plan,
    create: async (request: VmSpec) => {
      this.created.push(request);
      return { remaining: this.remaining };
    },
    creationState: async (_ref: object, creation: string) => (creation === CREATION ? this.state : 'absent'),
    discardCreation: async (_ref: object, creation: string) => void this.done.push(`discard ${creation}`),
  };
  private readonly builds = {
    plan: async () => buildPlan([{ name: 'install', detail: '' }], { refusals: this.buildRefusals }),
    prepare: async ({ id }: DiskBuild) => (this.done.push(`prepare ${id}`), VOLUME),
    install: async ({ id }: DiskBuild, { command }: BuildContainer) => void this.done.push(`install ${id} ${command}`),
    handOver: async ({ id }: DiskBuild) => void this.done.push(`hand over ${id}`),
    remove: async ({ id }: DiskBuild) => void this.done.push(`remove ${id}`),
  };
  buildRefusals: Plan['refusals'] = [];
  readonly build = new BuildVm({
    disks: this.disks,
    backends: { all: () => [this.backend], get: () => this.backend },
    directory: { waitFor: async () => undefined, get: () => buildVm() } as unknown as InstanceDirectory,
    folders: {
      hasFolder: () => true,
      join: async (_vm, path) => {
        if (path === 'gone') throw new DomainError('FOLDER_NOT_FOUND', 'There is no folder gone.');
        this.done.push(`join ${path}`);
      },
      complete: async () => undefined,
    },
    tasks: {
      define: (definition: TaskDefinition<BuiltVmSpec>) => {
        this.definition = definition;
        return {
          start: async ({ ref, input, reservation }: TaskStart<BuiltVmSpec>) => {
            this.started = input;
            reservation?.giveTo(TASK);
            return `${TASK} ${ref}`;
          },
        };
      },
    } as unknown as TaskRunner,
  });

  readonly ledger = new Ledger({ clock: new FixedClock() });
  start = (folder?: string) =>
    this.ledger.during(workOn('build', spec.ref), (reservation) =>
      this.build.start(this.backend, folder === undefined ? spec : { ...spec, folder }, ann, reservation),
    );
  step = (name: string, context: Partial<Parameters<typeof recordingStepContext>[1]> = {}) => {
    const step = this.definition.steps(this.started).find((one) => one.name === name);
    const results = { [BUILD_STEPS.install]: { disk: DISK }, [CONTEXT_BUILD_STEPS.prepare]: VOLUME };
    const given = { task: TASK, results, params: { creation: CREATION }, ...context };
    const recording = recordingStepContext(this.started, given);
    return { recording, result: step?.run(recording) };
  };
  journal = (name: string, isFinished = false): TaskJournal<BuiltVmSpec> => ({
    task: TASK,
    version: 2,
    caller: ann,
    input: this.started,
    steps: [{ name, params: name === BUILD_STEPS.create ? { creation: CREATION } : {}, attempts: 1, isFinished }],
  });
  resume = (name: string, isFinished = false) =>
    this.definition.resume?.(this.journal(name, isFinished), { log: () => undefined } as unknown as TaskContext);
  rollBack = (name: string = BUILD_STEPS.pull) => this.definition.rollback?.(this.journal(name), {} as TaskContext);
}

describe('BuildVm', () => {
  let building: Building;
  beforeEach(() => (building = new Building()));

  test('plans the build and the creation, and changes nothing', async () => {
    const { steps } = await building.build.plan(building.backend, spec);
    expect(steps.map(({ name }) => name)).toEqual(['pull', 'define']);
    expect([building.done, building.created]).toEqual([[], []]);
  });

  test('builds the disk, creates the VM from it, and removes the disk', async () => {
    expect(await building.start()).toBe(`${TASK} ${formatRef(spec.ref)}`);
    expect(building.definition.steps(spec).map(({ name }) => name)).toEqual(Object.values(BUILD_STEPS));
    await building.step(BUILD_STEPS.pull).result;
    expect(await building.step(BUILD_STEPS.install).result).toEqual({ disk: DISK });
    building.remaining = async (report) => report.step('Converting');
    const { recording, result } = building.step(BUILD_STEPS.create);
    await result;
    expect(recording.lines).toEqual(['Converting']);
    await building.step(BUILD_STEPS.cleanUp).result;
    expect(building.created).toEqual([{ ...spec, creation: CREATION, source: { ...spec.source, disk: DISK } }]);
    expect(building.done).toEqual(['pull registry.example.org/a:1', 'install ssh-ed25519 AAAA', `remove ${TASK}`]);
  });

  test.each<[title: string, prepare: (building: Building) => void, code: string]>([
    ['no disk can be built', (one) => (one.available = 'podman is not installed.'), 'NOT_SUPPORTED'],
    [
      'the backend refuses the VM',
      (one) =>
        (one.plan = buildPlan([], { refusals: [{ code: 'ALREADY_EXISTS', reason: 'web exists.', remedy: '' }] })),
      'ALREADY_EXISTS',
    ],
  ])('starts nothing when %s', async (_title, prepare, code) => {
    prepare(building);
    await expect(building.start()).rejects.toMatchObject({ code });
    expect(building.done).toEqual([]);
  });

  test('gives its task the reservation of the name', async () => {
    await building.start();
    await expect(building.start()).rejects.toMatchObject({ code: 'BUSY', details: { task: TASK } });
    building.ledger.endTask(TASK);
    await building.start();
  });

  test('accepts one of two requests at the same time', async () => {
    const outcomes = await Promise.allSettled([building.start(), building.start()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('puts the VM into its folder, also when a restart finds it complete', async () => {
    await building.start('prod');
    await building.step(BUILD_STEPS.create).result;
    expect(building.done).toEqual(['join prod']);
    building.state = 'complete';
    expect(await building.resume(BUILD_STEPS.create)).toEqual({ action: 'finished' });
    expect(building.done).toEqual(['join prod', 'join prod']);
  });

  test('says in its log that the folder is gone, and keeps the VM', async () => {
    await building.start('gone');
    const { recording, result } = building.step(BUILD_STEPS.create);
    await result;
    expect(recording.lines).toEqual(['web was not put into the folder gone: There is no folder gone.']);
  });

  test('creates no VM when it is canceled after the build', async () => {
    const { result } = building.step(BUILD_STEPS.create, {
      signal: AbortSignal.abort(new DomainError('CONFLICT', 'canceled')),
    });
    await expect(result).rejects.toThrow('canceled');
    expect(building.created).toEqual([]);
  });

  describe('in a context that builds disks', () => {
    beforeEach(() => (building.inContext = true));

    test('plans the build and the creation, with the refusals of both', async () => {
      const { steps, refusals } = await building.build.plan(building.backend, spec);
      expect([steps.map(({ name }) => name), refusals]).toEqual([['install', 'define'], []]);
      const refusal = { code: 'NOT_SUPPORTED', reason: 'No privileged pods.', remedy: 'Allow them.' } as const;
      building.buildRefusals = [refusal];
      expect((await building.build.plan(building.backend, spec)).refusals).toEqual([refusal]);
      await expect(building.start()).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      expect([building.done, building.created]).toEqual([[], []]);
    });

    test('builds there, creates the VM with the volume, hands it over, and removes the builder', async () => {
      await building.start();
      expect(building.definition.steps(building.started).map(({ name }) => name)).toEqual(
        Object.values(CONTEXT_BUILD_STEPS),
      );
      for (const name of Object.values(CONTEXT_BUILD_STEPS)) await building.step(name).result;
      expect(building.done).toEqual([
        `prepare ${TASK}`,
        `install ${TASK} block device: true`,
        `hand over ${TASK}`,
        `remove ${TASK}`,
      ]);
      const source = { ...spec.source, builder: 'context', volume: VOLUME.name };
      expect(building.created).toEqual([{ ...spec, creation: CREATION, source }]);
    });

    test('stays there after a restart', async () => {
      await building.start();
      building.inContext = false;
      await building.rollBack(CONTEXT_BUILD_STEPS.prepare);
      expect(building.done).toEqual([`hand over ${TASK}`, `remove ${TASK}`]);
    });
  });

  describe('after a restart', () => {
    test.each([BUILD_STEPS.pull, BUILD_STEPS.install, BUILD_STEPS.cleanUp])('repeats the step "%s"', async (step) => {
      expect(await building.resume(step)).toEqual({ action: 'continue' });
    });

    test('creates the VM if there is none', async () => {
      expect(await building.resume(BUILD_STEPS.create)).toEqual({ action: 'continue' });
    });

    test('waits for a lost context that builds the disk', async () => {
      building.inContext = true;
      await building.start();
      building.lost = new DomainError('BACKEND_UNREACHABLE', 'local: no route to host.');
      await expect(building.resume(CONTEXT_BUILD_STEPS.install)).rejects.toBe(building.lost);
    });

    test('builds a disk here while the context of the VM is lost', async () => {
      await building.start();
      building.lost = new DomainError('BACKEND_UNREACHABLE', 'local: no route to host.');
      expect(await building.resume(BUILD_STEPS.install)).toEqual({ action: 'continue' });
    });

    test('does not create a VM twice', async () => {
      building.state = 'complete';
      expect(await building.resume(BUILD_STEPS.create)).toEqual({ action: 'finished' });
      expect(building.done).toEqual([]);
    });

    test('removes an incomplete VM of its own, and creates it again from the disk', async () => {
      building.state = 'incomplete';
      expect(await building.resume(BUILD_STEPS.create)).toEqual({ action: 'continue' });
      expect(building.done).toEqual([`discard ${CREATION}`]);
    });

    test('removes the disk of a build that does not continue', async () => {
      await building.rollBack();
      expect(building.done).toEqual([`remove ${TASK}`]);
    });

    test('removes the incomplete VM of a creation that does not continue, and the disk also when that fails', async () => {
      await building.rollBack(BUILD_STEPS.create);
      expect(building.done).toEqual([`discard ${CREATION}`, `remove ${TASK}`]);
    });
  });
});
