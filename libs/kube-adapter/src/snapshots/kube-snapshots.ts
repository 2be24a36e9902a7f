import {
  buildPlan,
  DomainError,
  InstanceSnapshots,
  throwFirstRefusal,
  type AcceptedSnapshotWork,
  type BackgroundWork,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Plan,
  type Refusal,
  type Snapshot,
  type SnapshotOperation,
  type SnapshotPhase,
  type SnapshotRequest,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { conditionOf, type Condition, type KubeObject } from '../api/kube-object.js';
import { findOfOperation, isOfOperation, operationAnnotations, operationName } from '../api/operation-objects.js';
import { RESTORES, SNAPSHOTS, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { LABEL } from '../labels.js';
import type { KubePower } from '../power/kube-power.js';
import { isLive, isToRun, staysOn } from '../power/power-requests.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import {
  failureOf,
  findVm,
  isSnapshotOf,
  snapshotNotFound,
  snapshotsIn,
  sourceRefusals,
  type FoundVm,
  type RestoreObject,
  type SnapshotObject,
  type SnapshotSource,
} from './snapshot-objects.js';

/** The parts of a restore, as its task names them. */
const STOP = 'Stopping the VM';
const RESTORE = 'Restoring the disks';
const START = 'Starting the VM';

const PHASES: Readonly<Record<string, SnapshotPhase>> = {
  InProgress: 'InProgress',
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  Deleting: 'Deleting',
};

interface RestoreOptions {
  readonly key: OperationKey | undefined;
  /** Whether the VM is started afterwards. */
  readonly isToStart: boolean;
}

/** Snapshots and restores of KubeVirt. Snapshots have the label of their VM, so that they are deleted with it. */
export class KubeSnapshots extends InstanceSnapshots {
  constructor(
    private readonly deps: WatchDeps,
    private readonly discovery: ClusterDiscovery,
    private readonly power: KubePower,
  ) {
    super();
  }

  override async list(ref: InstanceRef): Promise<readonly Snapshot[]> {
    // The cluster's times are whole seconds.
    return (await this.snapshotsOf(ref))
      .map(present)
      .sort((a, b) => a.creationTime.localeCompare(b.creationTime) || a.name.localeCompare(b.name));
  }

  override async planCreate(ref: InstanceRef, { name, memory = false }: SnapshotRequest): Promise<Plan> {
    const { api } = this.deps;
    const found = await findVm(api, ref);
    const refusals: Refusal[] = sourceRefusals(found, await this.discovery.facts());
    if (memory)
      refusals.push({
        code: 'NOT_SUPPORTED',
        reason: 'KubeVirt saves the disks of a VM, but not the memory of its guest.',
        remedy: 'Omit memory.',
      });
    const existing = (await snapshotsIn(api, ref.namespace)).find(({ metadata }) => metadata.name === name);
    if (existing)
      refusals.push({
        code: 'ALREADY_EXISTS',
        reason: isSnapshotOf(existing, found)
          ? `${ref.name} already has a snapshot ${name}.`
          : `Another VM in ${ref.namespace} has a snapshot ${name}, or had one before it was deleted.`,
        remedy: 'Choose another name.',
      });
    const steps = [{ name: 'snapshot', detail: `VirtualMachineSnapshot ${name} of ${ref.name}.` }];
    return buildPlan(steps, { refusals, warnings: warningsOf(found) });
  }

  override async create(ref: InstanceRef, request: SnapshotRequest, key?: OperationKey): Promise<AcceptedSnapshotWork> {
    throwFirstRefusal(await this.planCreate(ref, request));
    const object = await this.deps.api.create<SnapshotObject>(SNAPSHOTS, {
      metadata: {
        name: request.name,
        namespace: ref.namespace,
        labels: { [LABEL.vm]: ref.name },
        ...operationAnnotations(key),
      },
      spec: { source: referenceTo(ref) },
    } as KubeObject);
    return { remaining: this.followSnapshot(ref, object) };
  }

  override async planRestore(ref: InstanceRef, name: string): Promise<Plan> {
    const found = await findVm(this.deps.api, ref);
    const snapshot = await this.find(ref, name);
    const { ready, phase, reason } = present(snapshot);
    const refusals = sourceRefusals(found, await this.discovery.facts()).filter(
      ({ reason }) => !/^The disk /.test(reason),
    );
    if (!ready)
      refusals.push({
        code: 'WRONG_STATE',
        reason: `The snapshot ${name} can't be restored: ${reason ?? `it is ${phase}`}.`,
        remedy: 'Wait until it has succeeded, or choose another one.',
      });
    if (found.vm.status?.stateChangeRequests?.some(({ action }) => action === 'Start'))
      refusals.push({ code: 'BUSY', reason: `${ref.name} is being started.`, remedy: 'Wait until that has ended.' });
    const running = isLive(found) || isToRun(found);
    return buildPlan(
      [
        ...(running ? [{ name: 'stop', detail: `Power off ${ref.name} immediately.`, reportedAs: [STOP] }] : []),
        {
          name: 'restore',
          detail: `VirtualMachineRestore of ${name}: new PVCs and the saved specification.`,
          reportedAs: [RESTORE],
        },
        ...(staysOn(found) ? [{ name: 'start', detail: `Start ${ref.name}.`, reportedAs: [START] }] : []),
      ],
      { refusals },
    );
  }

  override async restore(ref: InstanceRef, name: string, key?: OperationKey): Promise<BackgroundWork> {
    throwFirstRefusal(await this.planRestore(ref, name));
    // An interrupted attempt may have stopped it.
    const isToStart = key?.wasRunning ?? (await this.power.staysOn(ref));
    return this.restoring(ref, name, { key, isToStart });
  }

  override async planDelete(ref: InstanceRef, name: string): Promise<Plan> {
    await this.find(ref, name);
    return buildPlan([
      { name: 'delete', detail: `VirtualMachineSnapshot ${name}, with the snapshots of its volumes.` },
    ]);
  }

  /** A deletion needs no key: a snapshot that is gone, or about to go, shows how far it has come. */
  override async delete(ref: InstanceRef, name: string): Promise<AcceptedSnapshotWork> {
    const { metadata } = await this.find(ref, name);
    await this.deps.api.delete(SNAPSHOTS, { namespace: ref.namespace, name }, { uid: metadata.uid });
    return { remaining: this.followDeletion({ metadata: { ...metadata, namespace: ref.namespace } }) };
  }

  override async stateOf(ref: InstanceRef, operation: SnapshotOperation): Promise<OperationState> {
    if (operation.kind === 'restore') return this.restoreState(ref, operation);
    const snapshot = (await this.snapshotsOf(ref)).find(({ metadata }) => metadata.name === operation.snapshot);
    if (operation.kind === 'delete') {
      if (!snapshot) return { state: 'done' };
      return { state: snapshot.metadata.deletionTimestamp === undefined ? 'absent' : 'running' };
    }
    if (!snapshot || !isOfOperation(snapshot, operation)) return { state: 'absent' };
    const { phase, ready, reason = 'KubeVirt gave no reason' } = present(snapshot);
    if (phase === 'Failed') return { state: 'failed', reason: snapshotFailed(operation.snapshot, reason) };
    // Read after the snapshot: an earlier read may be from before the lock, which is set before the snapshot is ready.
    const { vm } = await findVm(this.deps.api, ref);
    const isLocked = vm.status?.snapshotInProgress === operation.snapshot;
    return { state: ready && !isLocked ? 'done' : 'running' };
  }

  override async resume(ref: InstanceRef, operation: SnapshotOperation): Promise<BackgroundWork> {
    const { kind, snapshot } = operation;
    if (kind === 'restore') return this.restoring(ref, snapshot, { key: operation, isToStart: operation.wasRunning });
    const object = await this.find(ref, snapshot);
    return kind === 'create' ? this.followSnapshot(ref, object) : this.followDeletion(object);
  }

  override async discard(ref: InstanceRef, operation: SnapshotOperation, signal: AbortSignal): Promise<void> {
    const { kind, snapshot: name } = operation;
    if (kind === 'restore') return this.discardRestore(ref, operation, signal);
    if (kind === 'delete' || (await this.stateOf(ref, operation)).state === 'done') return;
    const snapshot = (await this.snapshotsOf(ref)).find(({ metadata }) => metadata.name === name);
    if (!snapshot || !isOfOperation(snapshot, operation) || present(snapshot).phase === 'Failed') return;
    const { namespace } = ref;
    await this.deps.api.delete(SNAPSHOTS, { namespace, name }, { uid: snapshot.metadata.uid });
    await this.awaitRelease(ref, name, signal);
  }

  private async snapshotsOf(ref: InstanceRef): Promise<SnapshotObject[]> {
    const found = await findVm(this.deps.api, ref);
    return (await snapshotsIn(this.deps.api, ref.namespace)).filter((snapshot) => isSnapshotOf(snapshot, found));
  }

  private async find(ref: InstanceRef, name: string): Promise<SnapshotObject> {
    const found = (await this.snapshotsOf(ref)).find(({ metadata }) => metadata.name === name);
    if (!found) throw snapshotNotFound(ref, name);
    return found;
  }

  private followSnapshot(ref: InstanceRef, object: SnapshotObject): BackgroundWork {
    return async (report) => {
      await this.awaitSnapshot(object, report);
      report.waitsFor?.(`the cluster to release ${ref.name}`);
      await this.awaitRelease(ref, object.metadata.name ?? '', report.signal);
    };
  }

  private followDeletion(object: SnapshotObject): BackgroundWork {
    return (report) => {
      report.waitsFor?.(`the VirtualMachineSnapshot ${object.metadata.name} to be deleted`);
      return followObject({
        ...this.deps,
        resource: SNAPSHOTS,
        object,
        signal: report.signal,
        onChange: () => false,
        onRemoved: () => true,
      });
    };
  }

  /** Stops the VM, replaces its disks, and starts it again, from where an earlier process has stopped. */
  private restoring(ref: InstanceRef, name: string, { key, isToStart }: RestoreOptions): BackgroundWork {
    return async (report) => {
      const found = await findVm(this.deps.api, ref);
      const isRunning = isLive(found) || isToRun(found);
      const begun = key && (await this.restoreOf(ref, name, key));
      if (isRunning && !begun) await this.stop(ref, report);
      try {
        await this.replaceDisks(ref, name, { report, begun, key });
      } finally {
        // After a failure the VM has its previous content.
        if (isToStart && !report.signal.aborted) {
          report.step(START);
          await this.power.apply(ref, 'start');
        }
      }
    };
  }

  private restoreOf({ namespace }: InstanceRef, name: string, key: OperationKey): Promise<RestoreObject | undefined> {
    return findOfOperation<RestoreObject>(this.deps.api, RESTORES, { namespace, prefix: name, key });
  }

  private async restoreState(ref: InstanceRef, operation: SnapshotOperation): Promise<OperationState> {
    const restore = await this.restoreOf(ref, operation.snapshot, operation);
    // Read after the restore: an earlier read may be from before the VM was stopped for it.
    const found = await findVm(this.deps.api, ref);
    if (!restore) return { state: 'absent' };
    const failure = failureOf(restore.status);
    if (failure !== undefined) return { state: 'failed', reason: restoreFailed(operation.snapshot, failure) };
    const isComplete = restore.status?.complete === true && (!operation.wasRunning || isLive(found));
    return { state: isComplete ? 'done' : 'running' };
  }

  /** The cluster replaces the disks on its own once it was asked to. Before that, only the VM was stopped. */
  private async discardRestore(ref: InstanceRef, operation: SnapshotOperation, signal: AbortSignal): Promise<void> {
    const restore = await this.restoreOf(ref, operation.snapshot, operation);
    const { namespace } = ref;
    if (restore && failureOf(restore.status) !== undefined) {
      const { name, uid } = restore.metadata;
      await this.deps.api.delete(RESTORES, { namespace, name }, { uid });
    } else if (restore && restore.status?.complete !== true)
      throw new DomainError(
        'WRONG_STATE',
        `The cluster still restores ${operation.snapshot}, which can't be undone: ${ref.name} is stopped until its VirtualMachineRestore ${restore.metadata.name} is complete.`,
      );
    if (!operation.wasRunning) return;
    const { vmi } = await findVm(this.deps.api, ref);
    // It may still be shutting down.
    if (vmi) {
      if (vmi.metadata.deletionTimestamp === undefined) return;
      await this.untilRemoved(vmi, signal);
    }
    await this.power.apply(ref, 'start');
  }

  private async awaitSnapshot(object: SnapshotObject, report: TaskReporter): Promise<void> {
    const name = object.metadata.name ?? '';
    report.step('Saving the disks');
    report.waitsFor?.(`the VirtualMachineSnapshot ${name} to be ready`);
    await followObject<SnapshotObject>({
      ...this.deps,
      resource: SNAPSHOTS,
      object,
      signal: report.signal,
      onChange: ({ status }) => {
        if (status?.phase === 'Failed')
          throw new DomainError('BACKEND_FAILED', snapshotFailed(name, failureOf(status) ?? 'KubeVirt gave no reason'));
        report.waitsFor?.(`the VirtualMachineSnapshot ${name} to be ready${pendingReason(status?.conditions)}`);
        return status?.phase === 'Succeeded' && status.readyToUse === true;
      },
      onRemoved: () => {
        throw new DomainError('SNAPSHOT_NOT_FOUND', `The snapshot ${name} was deleted.`);
      },
    });
  }

  /**
   * The VM is locked for some time after its snapshot has succeeded, and refuses a restore, a snapshot and other
   * changes.
   */
  private async awaitRelease(ref: InstanceRef, snapshot: string, signal: AbortSignal): Promise<void> {
    const isLocked = ({ status }: SnapshotSource): boolean => status?.snapshotInProgress === snapshot;
    const vm = await this.deps.api.find<SnapshotSource>(VIRTUAL_MACHINES, ref);
    if (!vm || !isLocked(vm)) return;
    await followObject<SnapshotSource>({
      ...this.deps,
      resource: VIRTUAL_MACHINES,
      object: vm,
      signal,
      onChange: (current) => !isLocked(current),
      onRemoved: () => true,
    });
  }

  private async stop(ref: InstanceRef, report: TaskReporter): Promise<void> {
    report.step(STOP);
    const { vmi: before } = await findVm(this.deps.api, ref);
    await this.power.apply(ref, 'stop', { force: true });
    // It may have been created only now.
    const { vmi = before } = await findVm(this.deps.api, ref);
    if (vmi) await this.untilRemoved(vmi, report.signal);
  }

  private untilRemoved(vmi: KubeObject, signal: AbortSignal): Promise<void> {
    return followObject({
      ...this.deps,
      resource: VM_INSTANCES,
      object: vmi,
      signal,
      onChange: () => false,
      onRemoved: () => true,
    });
  }

  private async replaceDisks(
    ref: InstanceRef,
    snapshot: string,
    { report, begun, key }: { report: TaskReporter; begun: RestoreObject | undefined; key: OperationKey | undefined },
  ): Promise<void> {
    await report.commit?.(`The cluster replaces the disks of ${ref.name}.`);
    report.step(RESTORE);
    const restore = begun ?? (await this.createRestore(ref, snapshot, key));
    const awaited = `the VirtualMachineRestore ${restore.metadata.name} to be complete`;
    report.waitsFor?.(awaited);
    await followObject<RestoreObject>({
      ...this.deps,
      resource: RESTORES,
      object: restore,
      signal: report.signal,
      onChange: ({ status }) => {
        const failure = failureOf(status);
        if (failure !== undefined) throw new DomainError('BACKEND_FAILED', restoreFailed(snapshot, failure));
        report.waitsFor?.(`${awaited}${pendingReason(status?.conditions)}`);
        return status?.complete === true;
      },
      onRemoved: () => {
        throw new DomainError('BACKEND_FAILED', `The restore of ${snapshot} was deleted before it had ended.`);
      },
    });
  }

  private async createRestore(ref: InstanceRef, snapshot: string, key?: OperationKey): Promise<RestoreObject> {
    await this.removeEnded(ref);
    return this.deps.api.create<RestoreObject>(RESTORES, {
      metadata: {
        name: operationName(snapshot, key),
        namespace: ref.namespace,
        labels: { [LABEL.vm]: ref.name },
        ...operationAnnotations(key),
      },
      spec: { target: referenceTo(ref), virtualMachineSnapshotName: snapshot },
    } as KubeObject);
  }

  /** KubeVirt refuses a restore while an earlier one of the same VM has not completed, even if it has failed. */
  private async removeEnded(ref: InstanceRef): Promise<void> {
    const { api } = this.deps;
    for (const { spec, status, metadata } of await api.list<RestoreObject>(RESTORES, { namespace: ref.namespace })) {
      if (spec?.target?.name !== ref.name || metadata.labels?.[LABEL.vm] !== ref.name) continue;
      if (status?.complete !== true && failureOf(status) === undefined) continue;
      await api.delete(RESTORES, { namespace: ref.namespace, name: metadata.name }, { uid: metadata.uid });
    }
  }
}

const snapshotFailed = (name: string, reason: string): string => `The snapshot ${name} failed: ${reason}.`;

const restoreFailed = (name: string, reason: string): string => `The restore of ${name} failed: ${reason}.`;

/** The state of an object that makes progress, so that each other state counts as progress. */
function pendingReason(conditions: readonly Condition[] | undefined): string {
  const reason = conditionOf(conditions, 'Progressing')?.reason;
  return reason === undefined ? '' : ` (${reason})`;
}

const referenceTo = ({ name }: InstanceRef) => ({ apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name });

function present(object: SnapshotObject): Snapshot {
  const { metadata, status } = object;
  const phase =
    metadata.deletionTimestamp === undefined ? (PHASES[status?.phase ?? 'InProgress'] ?? 'Unknown') : 'Deleting';
  const ready = phase === 'Succeeded' && status?.readyToUse === true;
  const waiting = conditionOf(status?.conditions, 'Progressing')?.reason;
  const reason = failureOf(status) ?? (ready || phase === 'Deleting' ? undefined : waiting);
  return {
    name: metadata.name ?? '',
    phase,
    creationTime: status?.creationTime ?? metadata.creationTimestamp ?? new Date(0).toISOString(),
    ready,
    ...(reason !== undefined && { reason }),
  };
}

function warningsOf({ vm }: FoundVm): string[] {
  const volumes = vm.spec?.template?.spec?.volumes ?? [];
  const isSaved = volumes.some(({ dataVolume, persistentVolumeClaim }) => dataVolume ?? persistentVolumeClaim);
  return isSaved ? [] : ['The VM has no persistent disk, so the snapshot contains only its specification.'];
}
