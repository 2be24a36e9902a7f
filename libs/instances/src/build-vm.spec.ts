import {
  buildPlan,
  DomainError,
  formatRef,
  type Backend,
  type Caller,
  type DiskBuilder,
  type Instance,
  type InstanceDirectory,
  type Plan,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
  type TaskRunner,
  type VmSpec,
} from '@headgate/domain-contracts';
import { buildVm, recordingStepContext, withStatus } from '@headgate/testing';
import { BUILD_STEPS, BuildVm, type BuiltVmSpec } from './build-vm.js';

const ann: Caller = { login: 'ann', name: 'Ann', admin: true };
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

class Building {
  readonly done: string[] = [];
  readonly created: VmSpec[] = [];
  available: true | string = true;
  plan: Plan = buildPlan([{ name: 'define', detail: 'web' }]);
  vm: Instance | undefined;
  remaining: ((report: { step(name: string): void }) => Promise<void>) | undefined;
  definition!: TaskDefinition<BuiltVmSpec>;

  private readonly disks: DiskBuilder = {
    availability: async () => this.available,
    plan: async () => [{ name: 'pull', detail: '' }],
    pull: async ({ image }) => void this.done.push(`pull ${image}`),
    install: async (id, { sshKey }) => `/builds/${(this.done.push(`install ${sshKey}`), id)}/disk.raw`,
    remove: async (id) => void this.done.push(`remove ${id}`),
  };
  readonly backend = {
    require: () => ({
      planCreate: async () => this.plan,
      create: async (request: VmSpec) => {
        this.created.push(request);
        return { remaining: this.remaining };
      },
    }),
  } as unknown as Backend;
  readonly build = new BuildVm({
    disks: this.disks,
    backends: { all: () => [this.backend], get: () => this.backend },
    directory: { get: () => this.vm, waitFor: async () => undefined } as unknown as InstanceDirectory,
    tasks: {
      define: (definition: TaskDefinition<BuiltVmSpec>) => {
        this.definition = definition;
        return { start: ({ ref }: { ref: string }) => `${TASK} ${ref}` };
      },
    } as unknown as TaskRunner,
  });

  start = () => this.build.start(this.backend, spec, ann);
  step = (name: string, context: Partial<Parameters<typeof recordingStepContext>[1]> = {}) => {
    const step = this.definition.steps(spec).find((one) => one.name === name);
    const results = { [BUILD_STEPS.install]: { disk: DISK } };
    const recording = recordingStepContext(spec, { task: TASK, results, ...context });
    return { recording, result: step?.run(recording) };
  };
  journal = (name: string, isFinished = false): TaskJournal<BuiltVmSpec> => ({
    ...{ task: TASK, version: 1, caller: ann, input: spec },
    steps: [{ name, params: {}, attempts: 1, isFinished }],
  });
  resume = (name: string, isFinished = false) =>
    this.definition.resume?.(this.journal(name, isFinished), {} as TaskContext);
  rollBack = () => this.definition.rollback?.(this.journal(BUILD_STEPS.pull), {} as TaskContext);
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
    expect(building.created).toEqual([{ ...spec, source: { ...spec.source, disk: DISK } }]);
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

  test('refuses a second VM of the name during the build, and accepts one after it has ended or failed', async () => {
    const second = () => building.start();
    await building.start();
    await expect(second()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(building.build.plan(building.backend, spec)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await building.rollBack();
    await second();
    await building.step(BUILD_STEPS.cleanUp).result;
    await second();
  });

  test('accepts one of two requests at once', async () => {
    const outcomes = await Promise.allSettled([building.start(), building.start()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('creates no VM when it is canceled after the build', async () => {
    const { result } = building.step(BUILD_STEPS.create, {
      signal: AbortSignal.abort(new DomainError('CONFLICT', 'canceled')),
    });
    await expect(result).rejects.toThrow('canceled');
    expect(building.created).toEqual([]);
  });

  describe('after a restart', () => {
    test.each([BUILD_STEPS.pull, BUILD_STEPS.install, BUILD_STEPS.cleanUp])('repeats the step "%s"', async (step) => {
      expect(await building.resume(step)).toEqual({ action: 'continue' });
    });

    test('creates the VM if there is none, and keeps the name until then', async () => {
      expect(await building.resume(BUILD_STEPS.create)).toEqual({ action: 'continue' });
      await expect(building.start()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    });

    test('does not create a VM twice', async () => {
      building.vm = buildVm({ ref: spec.ref });
      expect(await building.resume(BUILD_STEPS.create)).toEqual({ action: 'finished' });
    });

    test.each<[title: string, vm: Instance]>([
      ['is incomplete', withStatus(buildVm({ ref: spec.ref }), 'Provisioning')],
      ['has failed', buildVm({ ref: spec.ref, reason: 'Its creation was interrupted by a restart.' })],
    ])('ends with an error when the VM %s', async (_title, vm) => {
      building.vm = vm;
      expect(await building.resume(BUILD_STEPS.create)).toMatchObject({ action: 'rollback' });
    });

    test('removes the disk of a build that does not continue', async () => {
      await building.rollBack();
      expect(building.done).toEqual([`remove ${TASK}`]);
    });
  });
});
