import {
  busyRefusal,
  DomainError,
  formatBytes,
  formatRef,
  isVm,
  parseRef,
  type BackendDirectory,
  type Container,
  type Instance,
  type InstanceDirectory,
  type InstanceRef,
  type PlanStep,
  type TimedSteps,
  type Work,
  type PortableVm,
  type Reservations,
  type ResourceMapping,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { ShutdownEstimates } from '../estimates/shutdown-estimates.js';
import type { Throughput } from '../estimates/throughput.js';
import { checkSnapshots, checkSource, readSource } from './check-source.js';
import { chooseDestination, type ChosenDestination } from './choose-destination.js';
import { findStateLosses } from './find-state-losses.js';
import { variantOfMove } from './variant-of-move.js';
import { workOfMove } from './work-of-move.js';
import { Concerns, type DowntimeEstimate, type MovePlan } from './move-plan.js';
import type { MoveRequest } from './move-request.js';
import { planContainer } from './plan-container.js';
import { planLiveMove } from './plan-live-move.js';
import { checkReceiver, planReceiver } from './plan-receiver.js';
import { checkWarmMove, ROUND_GOAL_BYTES, warmSteps } from './plan-warm-move.js';

export interface PlanMoveDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly reservations: Reservations;
  readonly throughput: Throughput;
  readonly shutdowns: ShutdownEstimates;
}

/** The instance that is moved. */
export interface MovedSource {
  readonly ref: InstanceRef;
  readonly uid: string;
  readonly isRunning: boolean;
}

/** A plan, with the facts that the move itself needs. Source and destination are present when there is no refusal. */
export interface PreparedMove {
  readonly plan: MovePlan;
  readonly source?: MovedSource;
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

type MappedRequest = MoveRequest & { readonly mapping: ResourceMapping };

const NO_SCRATCH = 'scratch has no effect: the disks are copied directly, so no space is needed in between.';

/** The preflight of a move. Changes nothing, and finds all refusals together instead of only the first. */
export class PlanMove {
  constructor(private readonly deps: PlanMoveDeps) {}

  /**
   * @param isReserved whether the move has reserved its source and its destination
   * @throws DomainError INVALID_REF; NOT_READY while the context of the source was not listed yet
   */
  async run(request: MoveRequest, isReserved = false): Promise<PreparedMove> {
    const concerns = new Concerns();
    const ref = parseRef(request.ref);
    const mapping = { networks: {}, storageClasses: {}, ...request.mapping };
    const { mode = 'cold', deleteSource = false } = request;
    if (request.scratch) concerns.warn(NO_SCRATCH);
    const instance = this.find(ref, concerns);
    const chosen = chooseDestination(request, ref, { backends: this.deps.backends, concerns });
    // First, because the other refusals may be consequences of the operations in progress.
    if (!isReserved) this.checkConflicts(ref, chosen, concerns);
    if (chosen && (mode !== 'live' || ref.kind === 'ct')) await checkReceiver(chosen, concerns);
    const mapped = { ...request, mapping };
    const facts =
      instance &&
      (isVm(instance)
        ? await this.planVm(instance, chosen, mapped, concerns)
        : await this.planContainer(instance, chosen, mapped, concerns));
    if (chosen) this.checkName(chosen, concerns);
    const { losses = [], availableBytes, copiesFirmwareVariables = false } = facts ?? {};
    const ok = concerns.refusals.length === 0;
    const plan = this.withTimes(workOfMove(ref, chosen), {
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
    });
    return {
      plan,
      mapping,
      copiesFirmwareVariables,
      ...(facts?.os !== undefined && { os: facts.os }),
      ...(instance && { source: sourceOf(instance) }),
      ...(chosen && { destination: chosen.ref }),
      ...(availableBytes !== undefined && { availableBytes }),
    };
  }

  /** Its downtime is estimated for this VM, so that the one of other moves is left out. */
  private withTimes(work: Work, plan: MovePlan): MovePlan {
    const timed: MovePlan & TimedSteps = plan;
    const { interruption: _interruption, ...shown } = this.deps.reservations.withTimes(
      { ...work, variant: variantOfMove(plan) },
      timed,
    );
    return shown;
  }

  /**
   * Long operations that use the source, or take the name of the copy. Requests end soon, and the move waits for them.
   */
  private checkConflicts(source: InstanceRef, chosen: ChosenDestination | undefined, concerns: Concerns): void {
    for (const conflict of this.deps.reservations.conflictsOf(workOfMove(source, chosen).uses)) {
      if (conflict.isBrief) continue;
      const { reason, remedy } = busyRefusal(conflict);
      const isSource = conflict.subject === formatRef(source);
      const code = isSource && conflict.operation === 'move' ? 'MOVE_IN_PROGRESS' : 'BUSY';
      concerns.refuse(isSource ? 'source' : 'destination', code, reason, remedy);
    }
  }

  private async planVm(
    source: VirtualMachine,
    chosen: ChosenDestination | undefined,
    request: MappedRequest,
    concerns: Concerns,
  ): Promise<PlanFacts | undefined> {
    await checkSource(source, request, this.deps.backends, concerns);
    if (request.mode !== 'live') return this.planCopy(source, chosen, request, concerns);
    const facts = chosen && (await this.planLive(source, chosen, request, concerns));
    if (concerns.has('MODE_NOT_SUPPORTED')) {
      // The user has to choose another mode, so the obstacles of the others are reported as well.
      await checkSnapshots(source.ref, this.deps.backends, concerns);
      if (chosen) await checkReceiver(chosen, concerns);
      await this.planCopy(source, chosen, { ...request, mode: 'cold' }, concerns);
    }
    return facts;
  }

  private async planContainer(
    source: Container,
    chosen: ChosenDestination | undefined,
    request: MappedRequest,
    concerns: Concerns,
  ): Promise<PlanFacts | undefined> {
    const plan = await planContainer({ source, chosen, request, backends: this.deps.backends }, concerns);
    if (!plan) return undefined;
    const { uid, phase } = source;
    const downtime = phase === 'Running' ? this.downtimeOf({ uid, os: undefined }, plan.estimatedBytes) : null;
    return { ...plan, downtime, format: '' };
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
      concerns.addFailure('destination', error);
      return undefined;
    }
  }

  private async planCopy(
    source: VirtualMachine,
    chosen: ChosenDestination | undefined,
    request: MappedRequest,
    concerns: Concerns,
  ): Promise<PlanFacts | undefined> {
    const read = await readSource(source, this.deps.backends, concerns);
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

  /** A destination that could not plan the copy has not checked this. */
  private checkName({ ref, isSamePlace }: ChosenDestination, concerns: Concerns): void {
    if (isSamePlace || concerns.has('ALREADY_EXISTS') || !this.deps.directory.get(ref)) return;
    const reason = `${ref.name} exists already in ${ref.context}/${ref.namespace}.`;
    concerns.refuse(
      'destination',
      'ALREADY_EXISTS',
      reason,
      `Set name to another name, or delete that ${ref.kind === 'vm' ? 'VM' : 'container'} first.`,
    );
  }

  private find(ref: InstanceRef, concerns: Concerns): Instance | undefined {
    try {
      return this.deps.directory.get(ref) ?? this.deps.directory.resolve(ref);
    } catch (error) {
      if (!DomainError.is(error, 'INSTANCE_NOT_FOUND', 'CONTEXT_NOT_FOUND')) throw error;
      concerns.refuse('source', 'INSTANCE_NOT_FOUND', error.message, 'Use a ref of the list of VMs or of containers.');
      return undefined;
    }
  }
}

const sourceOf = (instance: Instance): MovedSource => ({
  ref: instance.ref,
  uid: instance.uid,
  isRunning: isVm(instance) ? instance.status === 'Running' : instance.phase === 'Running',
});

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
