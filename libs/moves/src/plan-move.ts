import {
  DomainError,
  formatBytes,
  formatRef,
  isVm,
  matchesNameRule,
  messageOf,
  parseRef,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type Instance,
  type InstanceDirectory,
  type InstanceRef,
  type Loss,
  type PlanStep,
  type PortableVm,
  type ResourceMapping,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import { chooseDestination, type ChosenDestination } from './choose-destination.js';
import { receivingProblem } from './list-destinations.js';
import { findStateLosses } from './find-state-losses.js';
import { Concerns, type DowntimeEstimate, type MovePlan } from './move-plan.js';
import type { MoveRequest } from './move-request.js';
import type { MovesInProgress } from './moves-in-progress.js';
import { planLiveMove } from './plan-live-move.js';
import { checkWarmMove, ROUND_GOAL_BYTES, warmSteps } from './plan-warm-move.js';
import type { ShutdownEstimates } from './shutdown-estimates.js';
import type { Throughput } from './throughput.js';

export interface PlanMoveDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly inProgress: MovesInProgress;
  readonly throughput: Throughput;
  readonly shutdowns: ShutdownEstimates;
}

/** A plan, with the facts that the move itself needs. Source and destination are present when there is no refusal. */
export interface PreparedMove {
  readonly plan: MovePlan;
  readonly source?: VirtualMachine;
  readonly destination?: InstanceRef;
  readonly mapping: ResourceMapping;
  /** The short ID of the guest's operating system, if it is known. */
  readonly os?: string;
  /** How much fits at the destination; absent when that is unknown. */
  readonly availableBytes?: number;
  readonly copiesFirmwareVariables: boolean;
}

/** The part of a plan that depends on the mode. */
interface PlanFacts extends Pick<MovePlan, 'steps' | 'losses' | 'estimatedBytes' | 'format'> {
  readonly downtime: DowntimeEstimate | null;
  readonly os?: string;
  readonly availableBytes?: number;
  readonly copiesFirmwareVariables?: boolean;
}

const NO_SCRATCH = 'scratch has no effect: the disks are copied directly, so no space is needed in between.';
/** A plan never becomes real, so any ID will do. */
const REHEARSAL_ID = '00000000-0000-4000-8000-000000000000';

/** The preflight of a move. Changes nothing, and finds all refusals at once instead of only the first. */
export class PlanMove {
  constructor(private readonly deps: PlanMoveDeps) {}

  /** @throws DomainError INVALID_REF; NOT_READY while the context of the source was not listed yet */
  async run(request: MoveRequest): Promise<PreparedMove> {
    const concerns = new Concerns();
    const ref = parseRef(request.ref);
    const mapping = { networks: {}, storageClasses: {}, ...request.mapping };
    const { mode = 'cold', deleteSource = false } = request;
    if (request.scratch) concerns.warn(NO_SCRATCH);
    const instance = this.find(ref, concerns);
    const chosen = chooseDestination(request, ref, { backends: this.deps.backends, concerns });
    if (chosen && mode !== 'live') await checkReceiver(chosen, concerns);
    const source = instance && (await this.checkSource(instance, request, concerns));
    const facts =
      mode === 'live'
        ? source && chosen && (await this.planLive(source, chosen, request, concerns))
        : source && (await this.planCopy(source, chosen, { ...request, mapping }, concerns));
    const { losses = [], availableBytes, copiesFirmwareVariables = false } = facts ?? {};
    const ok = concerns.refusals.length === 0;
    const plan: MovePlan = {
      ok,
      source: formatRef(ref),
      destination: chosen ? formatRef(chosen.ref) : '',
      mode,
      steps: ok ? (facts?.steps ?? []) : [],
      warnings: concerns.warnings,
      dropped: losses.map(({ what }) => what),
      losses,
      refusals: concerns.refusals,
      estimatedBytes: facts?.estimatedBytes ?? 0,
      estimatedDowntimeSeconds: facts?.downtime?.seconds ?? null,
      minDowntimeSeconds: facts?.downtime?.minSeconds ?? null,
      maxDowntimeSeconds: facts?.downtime?.maxSeconds ?? null,
      format: facts?.format ?? '',
      deleteSource,
    };
    return {
      ...{ plan, mapping, copiesFirmwareVariables },
      ...(facts?.os !== undefined && { os: facts.os }),
      ...(source && { source }),
      ...(chosen && { destination: chosen.ref }),
      ...(availableBytes !== undefined && { availableBytes }),
    };
  }

  private async planLive(
    source: VirtualMachine,
    chosen: ChosenDestination,
    request: MoveRequest,
    concerns: Concerns,
  ): Promise<PlanFacts | undefined> {
    try {
      const plan = await planLiveMove({ source, chosen, request, backends: this.deps.backends }, concerns);
      return plan && { ...plan, losses: [], format: '' };
    } catch (error) {
      addFailure('destination', error, concerns);
      return undefined;
    }
  }

  private async planCopy(
    source: VirtualMachine,
    chosen: ChosenDestination | undefined,
    request: MoveRequest & { readonly mapping: ResourceMapping },
    concerns: Concerns,
  ): Promise<PlanFacts | undefined> {
    const read = await this.readSource(source, concerns);
    if (!read) return undefined;
    const { vm } = read;
    if (request.mode === 'warm') await checkWarmMove({ source, chosen, backends: this.deps.backends }, concerns);
    const received =
      chosen && !chosen.isSamePlace
        ? await planReceiver({ chosen, vm, mapping: request.mapping }, concerns)
        : undefined;
    const estimatedBytes = usedBytes(vm);
    const state = received && findStateLosses({ vm, received, request }, concerns);
    const availableBytes = received?.availableBytes;
    return {
      steps: chosen && received ? stepsOf({ source, chosen, vm, request }, received.steps) : [],
      losses: [...read.losses, ...(received?.losses ?? []), ...(state?.losses ?? [])],
      estimatedBytes,
      downtime:
        source.status === 'Running'
          ? this.downtimeOf({ uid: source.uid, os: vm.os }, request.mode === 'warm' ? ROUND_GOAL_BYTES : estimatedBytes)
          : null,
      ...(vm.os !== undefined && { os: vm.os }),
      format: received?.format ?? '',
      ...(availableBytes !== undefined && { availableBytes }),
      ...(state && { copiesFirmwareVariables: state.copiesFirmwareVariables }),
    };
  }

  /** @param bytes to copy and compare while the guest is stopped */
  private downtimeOf({ uid, os }: { readonly uid: string; readonly os: string | undefined }, bytes: number) {
    const { throughput, shutdowns } = this.deps;
    const shutdown = shutdowns.of({ uid, ...(os !== undefined && { os }) });
    const rest = throughput.secondsFor(bytes);
    return {
      seconds: Math.ceil(shutdown.seconds + rest),
      minSeconds: Math.floor(shutdown.minSeconds),
      maxSeconds: Math.ceil(shutdown.maxSeconds + rest),
    };
  }

  private find(ref: InstanceRef, concerns: Concerns): Instance | undefined {
    try {
      return this.deps.directory.get(ref) ?? this.deps.directory.resolve(ref);
    } catch (error) {
      if (!DomainError.is(error, 'INSTANCE_NOT_FOUND', 'CONTEXT_NOT_FOUND')) throw error;
      concerns.refuse('source', 'INSTANCE_NOT_FOUND', error.message, 'Use a ref of the list of VMs.');
      return undefined;
    }
  }

  /** @returns undefined for a container */
  private async checkSource(
    instance: Instance,
    { deleteSource = false, mode }: MoveRequest,
    concerns: Concerns,
  ): Promise<VirtualMachine | undefined> {
    if (!isVm(instance)) {
      concerns.refuse(
        'source',
        'CONTAINER_NOT_MOVABLE',
        `${instance.ref.name} is a container: its volume is a file system of its cluster, and no other backend runs containers from it.`,
        'Create the container at the destination, and copy its data with its own tools.',
      );
      return undefined;
    }
    const { ref, status, isTemplate } = instance;
    const refuse = (code: Parameters<Concerns['refuse']>[1], reason: string, remedy: string): void =>
      concerns.refuse('source', code, reason, remedy);
    if (status !== 'Stopped' && status !== 'Running')
      refuse(
        'WRONG_STATE',
        `${ref.name} is ${status}.`,
        'Start it or stop it, and wait until it is running or stopped.',
      );
    if (isTemplate)
      refuse(
        'SOURCE_IS_TEMPLATE',
        `${ref.name} is a template: VMs may be created from it at any time.`,
        'Clone it and move the clone, or unmark it as a template first.',
      );
    // A live move keeps the VM with its protection and, where the backend can, its snapshots.
    if (deleteSource && instance.protected && mode !== 'live')
      refuse(
        'SOURCE_IS_PROTECTED',
        `${ref.name} is protected against deletion.`,
        'Omit deleteSource, or remove the protection first.',
      );
    if (this.deps.inProgress.has(ref))
      refuse(
        'MOVE_IN_PROGRESS',
        `${ref.name} is being moved already.`,
        'Wait until that task has ended, or cancel it.',
      );
    if (mode !== 'live') await this.checkSnapshots(ref, concerns);
    return instance;
  }

  private async checkSnapshots(ref: InstanceRef, concerns: Concerns): Promise<void> {
    const snapshots = this.backendOf(ref)?.ability('snapshots');
    if (!snapshots || snapshots instanceof UnavailableAbility) return;
    try {
      const { length } = await snapshots.list(ref);
      if (length === 0) return;
      concerns.refuse(
        'source',
        'SOURCE_HAS_SNAPSHOTS',
        `${ref.name} has ${length} ${length === 1 ? 'snapshot' : 'snapshots'}, which can't be moved.`,
        'Delete its snapshots first.',
      );
    } catch (error) {
      // A cluster without snapshots has none of this VM either.
      if (!DomainError.is(error, 'NOT_SUPPORTED', 'INSTANCE_NOT_FOUND')) addFailure('source', error, concerns);
    }
  }

  private async readSource(
    { ref }: VirtualMachine,
    concerns: Concerns,
  ): Promise<{ vm: PortableVm; losses: readonly Loss[] } | undefined> {
    const ability = this.backendOf(ref)?.ability('diskSource');
    if (!ability || ability instanceof UnavailableAbility) {
      concerns.refuse(
        'source',
        'SOURCE_CANNOT_BE_READ',
        ability?.reason ?? `There is no context ${ref.context}.`,
        'Export its disk and import it at the destination.',
      );
      return undefined;
    }
    try {
      const { vm, refusals, warnings, losses } = await ability.describe(ref);
      concerns.addRefusals(
        'source',
        refusals.filter(({ reason }) => !isRepeated(reason, concerns)),
      );
      concerns.warn(...warnings);
      return { vm, losses };
    } catch (error) {
      addFailure('source', error, concerns);
      return undefined;
    }
  }

  private backendOf({ context }: InstanceRef): Backend | undefined {
    return this.deps.backends.all().find((backend) => backend.context === context);
  }
}

/** Snapshots are reported once, although the backend finds them as well. */
const isRepeated = (reason: string, { refusals }: Concerns): boolean =>
  reason.includes('snapshots') && refusals.some(({ code }) => code === 'SOURCE_HAS_SNAPSHOTS');

async function checkReceiver({ backend, ref }: ChosenDestination, concerns: Concerns): Promise<void> {
  const problem = await receivingProblem(backend);
  if (problem !== undefined)
    concerns.refuse(
      'destination',
      'DESTINATION_CANNOT_RECEIVE',
      `${backend.context} can't receive VMs: ${problem}`,
      'Choose another destination: GET /api/move/destinations lists them.',
    );
  const { instanceNames } = backend.traits;
  if (!matchesNameRule(instanceNames, ref.name))
    concerns.refuse(
      'request',
      'INVALID_NAME',
      `name must ${instanceNames.description} on ${backend.context}.`,
      'Set name to another name.',
    );
}

async function planReceiver(
  { chosen: { backend, ref }, vm, mapping }: { chosen: ChosenDestination; vm: PortableVm; mapping: ResourceMapping },
  concerns: Concerns,
) {
  const ingest = backend.ability('diskIngest');
  if (ingest instanceof UnavailableAbility) return undefined;
  try {
    const planned = await ingest.plan({ id: REHEARSAL_ID, ref, vm, mapping });
    const { steps, warnings, refusals, losses, format, availableBytes, firmwareVariables } = planned;
    const known = new Set(concerns.refusals.map(({ code }) => code));
    concerns.addRefusals(
      'destination',
      refusals.filter(({ code }) => code !== 'INVALID_NAME' || !known.has(code)),
    );
    concerns.warn(...warnings);
    if (vm.nics.some(({ mac }) => mac !== ''))
      concerns.warn('The copy has the MAC addresses of the source: do not run both on one network.');
    return { steps, losses, format, availableBytes, firmwareVariables };
  } catch (error) {
    // An unreachable destination has refused already.
    if (!concerns.refusals.some(({ code }) => code === 'DESTINATION_CANNOT_RECEIVE'))
      addFailure('destination', error, concerns);
    return undefined;
  }
}

function addFailure(category: 'source' | 'destination', error: unknown, concerns: Concerns): void {
  if (!(error instanceof DomainError)) throw error;
  concerns.refuse(category, error.code, messageOf(error), 'Correct the cause, and try again.');
}

const usedBytes = ({ disks }: PortableVm): number =>
  disks.reduce((sum, disk) => sum + (disk.usedBytes ?? disk.sizeBytes), 0);

function stepsOf(
  move: { source: VirtualMachine; chosen: ChosenDestination; vm: PortableVm; request: MoveRequest },
  receiving: readonly PlanStep[],
): PlanStep[] {
  const { source, chosen, vm, request } = move;
  const { name } = source.ref;
  const sizeBytes = vm.disks.reduce((sum, disk) => sum + disk.sizeBytes, 0);
  return [
    ...receiving,
    ...(request.mode === 'warm' ? warmSteps(name, formatBytes(sizeBytes)) : coldSteps(source, formatBytes(sizeBytes))),
    { name: 'commit', detail: `Complete ${chosen.ref.name} in ${chosen.ref.context}, stopped.` },
    { name: 'folder', detail: 'Put it into the folder of the source, if that has one.' },
    request.deleteSource
      ? { name: 'delete', detail: `Delete ${name} in ${source.ref.context} with its disks.` }
      : { name: 'keep', detail: `Keep ${name} in ${source.ref.context}, stopped.` },
  ];
}

const coldSteps = ({ ref: { name }, status }: VirtualMachine, size: string): readonly PlanStep[] => [
  ...(status === 'Running' ? [{ name: 'stop', detail: `Shut down ${name}.` }] : []),
  { name: 'copy', detail: `Copy ${size} of disks, without their zeros.` },
  { name: 'verify', detail: 'Compare the disks of both ends block by block.' },
];
