import {
  buildPlan,
  DomainError,
  formatRef,
  isVm,
  throwFirstRefusal,
  type Backend,
  type BackendDirectory,
  type Caller,
  type DefinedTask,
  type DiskBuilder,
  type DiskOrder,
  type InstanceDirectory,
  type InstanceRef,
  type Plan,
  type Resumption,
  type StepContext,
  type TaskDefinition,
  type TaskJournal,
  type TaskReporter,
  type TaskRunner,
  type VmSource,
  type VmSpec,
} from '@headgate/domain-contracts';

export type BuiltSource = Extract<VmSource, { kind: 'bootc' }>;

/** A VM whose disk is built before it is created. */
export type BuiltVmSpec = VmSpec & { readonly source: BuiltSource };

export const isBuilt = (spec: VmSpec): spec is BuiltVmSpec => spec.source.kind === 'bootc';

export interface BuildVmDeps {
  readonly disks: DiskBuilder;
  readonly backends: BackendDirectory;
  readonly directory: InstanceDirectory;
  readonly tasks: TaskRunner;
}

/** The journaled steps. */
export const BUILD_STEPS = {
  pull: 'Pull the image',
  install: 'Install the image on a disk',
  create: 'Create the VM',
  cleanUp: 'Remove the temporary disk',
} as const;

interface BuiltDisk {
  readonly disk: string;
}

/**
 * Creates VMs from bootable container images: a task builds the disk, and then creates the VM from it. The ID of the build is that of the
 * task, so that a restart finds its remains.
 */
export class BuildVm {
  /** The refs of VMs whose disks are being built: the backends don't know them yet. */
  private readonly building = new Set<string>();
  private readonly builds: DefinedTask<BuiltVmSpec>;

  constructor(private readonly deps: BuildVmDeps) {
    this.builds = deps.tasks.define(this.definition());
  }

  /** @throws DomainError NOT_SUPPORTED when no disk can be built, and those of `DiskBuilder.plan` */
  async plan(backend: Backend, spec: BuiltVmSpec): Promise<Plan> {
    const { disks } = this.deps;
    const available = await disks.availability();
    if (available !== true) throw new DomainError('NOT_SUPPORTED', available);
    const { steps, warnings, refusals } = await backend.require('provisioning').planCreate(spec);
    if (refusals.length > 0) return { steps, warnings, refusals };
    this.expectFree(spec.ref);
    return buildPlan([...(await disks.plan(orderOf(spec))), ...steps], { warnings });
  }

  /** @returns the ID of the task */
  async start(backend: Backend, spec: BuiltVmSpec, caller: Caller): Promise<string> {
    throwFirstRefusal(await this.plan(backend, spec));
    // Another request may have passed the same check meanwhile.
    this.expectFree(spec.ref);
    const ref = formatRef(spec.ref);
    this.building.add(ref);
    try {
      return this.builds.start({ name: spec.ref.name, ref, input: spec }, caller);
    } catch (error) {
      this.building.delete(ref);
      throw error;
    }
  }

  private definition(): TaskDefinition<BuiltVmSpec> {
    const { disks } = this.deps;
    return {
      kind: 'bootc',
      steps: () => [
        {
          name: BUILD_STEPS.pull,
          isCancelable: true,
          weight: 4,
          run: (context) => disks.pull(orderOf(context.input), context),
        },
        {
          name: BUILD_STEPS.install,
          isCancelable: true,
          weight: 8,
          run: async (context): Promise<BuiltDisk> => ({
            disk: await disks.install(context.task, orderOf(context.input), context),
          }),
        },
        { name: BUILD_STEPS.create, isCancelable: true, weight: 2, run: (context) => this.create(context) },
        { name: BUILD_STEPS.cleanUp, run: ({ task, input }) => this.cleanUp(task, input) },
      ],
      resume: (journal) => this.resume(journal),
      rollback: ({ task, input }) => this.cleanUp(task, input),
    };
  }

  private async create(context: StepContext<BuiltVmSpec>): Promise<void> {
    const { input, signal } = context;
    const { disk } = context.result<BuiltDisk>(BUILD_STEPS.install);
    signal.throwIfAborted();
    const source: BuiltSource = { ...input.source, disk };
    const provisioning = this.deps.backends.get(input.ref.context).require('provisioning');
    const { remaining } = await provisioning.create({ ...input, source });
    await remaining?.(reportTo(context));
    await this.deps.directory.waitFor(input.ref, (instance) => instance !== undefined);
  }

  private async cleanUp(task: string, { ref }: BuiltVmSpec): Promise<void> {
    this.building.delete(formatRef(ref));
    await this.deps.disks.remove(task);
  }

  /** Every step can be repeated, except one that has begun to create the VM. */
  private async resume({ input, steps }: TaskJournal<BuiltVmSpec>): Promise<Resumption> {
    this.building.add(formatRef(input.ref));
    const last = steps.at(-1);
    if (last?.name !== BUILD_STEPS.create || last.isFinished) return { action: 'continue' };
    const vm = this.deps.directory.get(input.ref);
    if (!vm) return { action: 'continue' };
    if (isVm(vm) && vm.reason === undefined && vm.status !== 'Provisioning') return { action: 'finished' };
    return {
      action: 'rollback',
      reason: `The creation of ${input.ref.name} was interrupted by a restart. Delete the VM, and create it again.`,
    };
  }

  private expectFree(ref: InstanceRef): void {
    if (this.building.has(formatRef(ref)))
      throw new DomainError('ALREADY_EXISTS', `A VM named ${ref.name} is being built already.`);
  }
}

const orderOf = ({ source: { image, sshKey }, diskBytes }: BuiltVmSpec): DiskOrder => ({ image, diskBytes, sshKey });

/** The steps of a backend become lines of the log. */
const reportTo = (context: StepContext): TaskReporter => ({
  step: (name) => context.log(name),
  log: (line) => context.log(line),
  progress: (fraction) => context.progress(fraction),
  signal: context.signal,
});
