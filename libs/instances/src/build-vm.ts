import { randomUUID } from 'node:crypto';
import { JoinFolder, type JoinFolderDeps } from './join-folder.js';
import {
  buildPlan,
  DomainError,
  formatRef,
  reporterOf,
  throwFirstRefusal,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type BuildContainer,
  type BuildVolume,
  type Caller,
  type DefinedTask,
  type DiskBuild,
  type DiskBuilder,
  type DiskBuilds,
  type DiskBuildRequest,
  type FollowedBuild,
  type InstanceDirectory,
  type InstanceProvisioning,
  type JournaledStep,
  type Patience,
  type Plan,
  type Reservation,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
  type TaskRunner,
  type VmSource,
  type VmSpec,
} from '@headgate/domain-contracts';

export type BuiltSource = Extract<VmSource, { kind: 'bootc' }>;

/** A VM whose disk is built before it is created. */
export type BuiltVmSpec = VmSpec & { readonly source: BuiltSource };

/** What the task of a build gets. */
export interface BuildInput extends BuiltVmSpec {
  /** The folder that the VM is put into. */
  readonly folder?: string;
}

export const isBuilt = (spec: VmSpec): spec is BuiltVmSpec => spec.source.kind === 'bootc';

export interface BuildVmDeps {
  readonly disks: DiskBuilder;
  readonly backends: BackendDirectory;
  readonly directory: InstanceDirectory;
  readonly tasks: TaskRunner;
  readonly folders: JoinFolderDeps['folders'];
}

/** The journaled steps of a build on the machine of the service. */
export const BUILD_STEPS = {
  pull: 'Pull the image',
  install: 'Install the image on a disk',
  create: 'Create the VM',
  cleanUp: 'Remove the temporary disk',
} as const;

/** The journaled steps of a build in the context of the VM. */
export const CONTEXT_BUILD_STEPS = {
  prepare: 'Create the disk',
  install: BUILD_STEPS.install,
  create: BUILD_STEPS.create,
  cleanUp: 'Remove the builder',
} as const;

interface BuiltDisk {
  readonly disk: string;
}

interface CreateParams {
  readonly creation: string;
}

/**
 * Creates VMs from bootable container images: a task builds the disk, and then creates the VM from it. The disk is
 * built in the context of the VM if that can, and otherwise on the machine of the service. The ID of the build is that
 * of the task, so that a restart finds its remains.
 */
export class BuildVm {
  private readonly builds: DefinedTask<BuildInput>;

  constructor(private readonly deps: BuildVmDeps) {
    this.builds = deps.tasks.define(this.definition());
  }

  /** @throws DomainError NOT_SUPPORTED when no disk can be built, and those of `DiskBuilder` */
  plan(backend: Backend, spec: BuiltVmSpec): Promise<Plan> {
    return isInContext(backend) ? this.planInContext(backend, inContext(spec)) : this.planHere(backend, spec);
  }

  /** @returns the ID of the task */
  async start(backend: Backend, spec: BuildInput, caller: Caller, reservation: Reservation): Promise<string> {
    throwFirstRefusal(await this.plan(backend, spec));
    const input = isInContext(backend) ? { ...inContext(spec), folder: spec.folder } : spec;
    return this.builds.start({ name: spec.ref.name, ref: formatRef(spec.ref), input, reservation }, caller);
  }

  private async planHere(backend: Backend, spec: BuiltVmSpec): Promise<Plan> {
    const { disks } = this.deps;
    const available = await disks.availability();
    if (available !== true) throw new DomainError('NOT_SUPPORTED', available);
    const { steps, warnings, refusals } = await backend.require('provisioning').planCreate(spec);
    if (refusals.length > 0) return { steps, warnings, refusals };
    return buildPlan([...(await disks.plan(paramsOf(spec))), ...steps], { warnings });
  }

  private async planInContext(backend: Backend, spec: BuiltVmSpec): Promise<Plan> {
    // Whether the volume will be a block device is only known when it exists; the permissions are the same.
    const container = await this.deps.disks.planContainer(paramsOf(spec), { isBlockDevice: false });
    const { steps, warnings, refusals } = await backend.require('provisioning').planCreate(spec);
    const build = await backend.require('diskBuilds').plan(buildOf('', spec), container);
    const all = [...refusals, ...build.refusals];
    return buildPlan([...build.steps, ...steps], { warnings: [...build.warnings, ...warnings], refusals: all });
  }

  private definition(): TaskDefinition<BuildInput> {
    return {
      kind: 'bootc',
      version: 2,
      steps: ({ source }) => (source.builder === 'context' ? this.stepsInContext() : this.stepsHere()),
      resume: (journal, context) => this.resume(journal, context),
      rollback: (journal) => this.rollBack(journal),
    };
  }

  private stepsHere(): StepDefinition<BuildInput>[] {
    const { disks } = this.deps;
    return [
      {
        name: BUILD_STEPS.pull,
        ...patience(60, 'the image to be downloaded'),
        isCancelable: true,
        weight: 4,
        run: (context) => disks.pull(paramsOf(context.input), context),
      },
      {
        name: BUILD_STEPS.install,
        ...patience(60, 'the installation of the image'),
        isCancelable: true,
        weight: 8,
        run: async (context): Promise<BuiltDisk> => ({
          disk: await disks.install(context.task, paramsOf(context.input), followed(context)),
        }),
      },
      this.createStep((context) => ({ disk: context.result<BuiltDisk>(BUILD_STEPS.install).disk })),
      {
        name: BUILD_STEPS.cleanUp,
        ...patience(30, 'the temporary disk to be removed'),
        run: ({ task, input }) => this.cleanUp(task, input),
      },
    ];
  }

  private stepsInContext(): StepDefinition<BuildInput>[] {
    return [
      {
        name: CONTEXT_BUILD_STEPS.prepare,
        ...patience(30, 'the volume of the disk'),
        isCancelable: true,
        run: (context): Promise<BuildVolume> =>
          this.buildsOf(context.input).prepare(buildOf(context.task, context.input), context),
      },
      {
        name: CONTEXT_BUILD_STEPS.install,
        ...patience(60, 'the installation of the image'),
        isCancelable: true,
        weight: 12,
        run: async (context) => {
          const { task, input } = context;
          const volume = context.result<BuildVolume>(CONTEXT_BUILD_STEPS.prepare);
          const container: BuildContainer = await this.deps.disks.planContainer(paramsOf(input), volume);
          await this.buildsOf(input).install(buildOf(task, input), container, followed(context));
        },
      },
      this.createStep((context) => ({ volume: context.result<BuildVolume>(CONTEXT_BUILD_STEPS.prepare).name })),
      {
        name: CONTEXT_BUILD_STEPS.cleanUp,
        ...patience(30, 'the builder to be removed'),
        run: ({ task, input }) => this.cleanUp(task, input),
      },
    ];
  }

  private createStep(
    built: (context: StepContext<BuildInput>) => Pick<BuiltSource, 'disk' | 'volume'>,
  ): StepDefinition<BuildInput> {
    return {
      name: BUILD_STEPS.create,
      ...patience(60, 'the creation of the VM'),
      isCancelable: true,
      weight: 2,
      params: (): CreateParams => ({ creation: randomUUID() }),
      run: async (context) => {
        const { input, signal } = context;
        signal.throwIfAborted();
        const { creation } = context.params as CreateParams;
        const source: BuiltSource = { ...input.source, ...built(context) };
        const { remaining } = await this.provisioningOf(input).create({ ...input, creation, source });
        await remaining?.(reporterOf(context));
        await this.joinFolder(input, (line) => context.log(line));
      },
    };
  }

  private async cleanUp(task: string, input: BuiltVmSpec): Promise<void> {
    if (input.source.builder === 'context') {
      await this.buildsOf(input).handOver(buildOf(task, input));
      await this.buildsOf(input).remove(buildOf(task, input));
    } else await this.deps.disks.remove(task);
  }

  private async rollBack({ task, input, steps }: TaskJournal<BuildInput>): Promise<void> {
    const creation = creationOf(steps);
    try {
      if (creation !== undefined) await this.provisioningOf(input).discardCreation(input.ref, creation);
    } finally {
      await this.cleanUp(task, input);
    }
  }

  /** Every step can be repeated. An incomplete VM is removed first; its disk was built already, and is still there. */
  private async resume({ input, steps }: TaskJournal<BuildInput>, { log }: TaskContext): Promise<Resumption> {
    const creation = creationOf(steps);
    // Throws while the context is lost, so that the task waits for it.
    if (input.source.builder === 'context') this.buildsOf(input);
    if (creation === undefined || steps.at(-1)?.name !== BUILD_STEPS.create || steps.at(-1)?.isFinished)
      return { action: 'continue' };
    const provisioning = this.provisioningOf(input);
    const state = await provisioning.creationState(input.ref, creation);
    if (state === 'complete') {
      await this.joinFolder(input, log);
      return { action: 'finished' };
    }
    if (state === 'incomplete') {
      log(`The creation of ${input.ref.name} was interrupted: the incomplete VM is removed and created again.`);
      await provisioning.discardCreation(input.ref, creation);
    }
    return { action: 'continue' };
  }

  /** May be repeated. A VM that could not be put into its folder is complete without it. */
  private async joinFolder({ ref, folder }: BuildInput, log: (line: string) => void): Promise<void> {
    const problem = await new JoinFolder(this.deps, ref, folder).join('member');
    if (problem !== undefined) log(problem);
  }

  private provisioningOf({ ref }: BuiltVmSpec): InstanceProvisioning {
    return this.deps.backends.get(ref.context).require('provisioning');
  }

  private buildsOf({ ref }: BuiltVmSpec): DiskBuilds {
    return this.deps.backends.get(ref.context).require('diskBuilds');
  }
}

/** A build reports each line of its output. */
const patience = (minutes: number, waitsFor: string): Patience => ({
  stallMs: minutes * 60_000,
  waitsFor,
  ifStalled: 'The builder may still run: build the VM again under another name, or wait for its end.',
});

const isInContext = (backend: Backend): boolean => !(backend.ability('diskBuilds') instanceof UnavailableAbility);

const inContext = (spec: BuiltVmSpec): BuiltVmSpec => ({ ...spec, source: { ...spec.source, builder: 'context' } });

const paramsOf = ({ source: { image, sshKey }, diskBytes }: BuiltVmSpec): DiskBuildRequest => ({
  image,
  diskBytes,
  sshKey,
});

const buildOf = (id: string, spec: BuiltVmSpec): DiskBuild => ({
  id,
  ref: spec.ref,
  request: paramsOf(spec),
  node: spec.node,
  storageClass: spec.storageClass,
});

const creationOf = (steps: readonly JournaledStep[]): string | undefined =>
  (steps.find(({ name }) => name === BUILD_STEPS.create)?.params as CreateParams | undefined)?.creation;

/** The position in the output of a build is the checkpoint of the step. */
const followed = (context: StepContext): FollowedBuild => ({
  log: (line) => context.log(line),
  signal: context.signal,
  position: (context.checkpoint as { readonly position?: string } | undefined)?.position,
  savePosition: async (position) => void (await context.saveCheckpoint({ position })),
});
