import { randomBytes } from 'node:crypto';
import {
  buildPlan,
  DomainError,
  InstanceSnapshots,
  MAX_NAME_LENGTH,
  throwFirstRefusal,
  type AcceptedSnapshotWork,
  type BackgroundWork,
  type InstanceRef,
  type Plan,
  type Refusal,
  type Snapshot,
  type SnapshotPhase,
  type SnapshotRequest,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import { RESTORES, SNAPSHOTS, VM_INSTANCES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { LABEL } from '../labels.js';
import type { KubePower } from '../power/kube-power.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import {
  failureOf,
  findVm,
  isLive,
  isSnapshotOf,
  snapshotNotFound,
  snapshotsIn,
  sourceRefusals,
  type FoundVm,
  type RestoreObject,
  type SnapshotObject,
} from './snapshot-objects.js';

const PHASES: Readonly<Record<string, SnapshotPhase>> = {
  InProgress: 'InProgress',
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  Deleting: 'Deleting',
};

/** The names of restores end in random digits. */
const SUFFIX_BYTES = 4;

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

  override async create(ref: InstanceRef, request: SnapshotRequest): Promise<AcceptedSnapshotWork> {
    throwFirstRefusal(await this.planCreate(ref, request));
    const object = await this.deps.api.create<SnapshotObject>(SNAPSHOTS, {
      metadata: { name: request.name, namespace: ref.namespace, labels: { [LABEL.vm]: ref.name } },
      spec: { source: referenceTo(ref) },
    } as KubeObject);
    return { remaining: (report) => this.awaitSnapshot(object, report) };
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
    const running = isLive(found);
    return buildPlan(
      [
        ...(running ? [{ name: 'stop', detail: `Power off ${ref.name} immediately.` }] : []),
        { name: 'restore', detail: `VirtualMachineRestore of ${name}: new PVCs and the saved specification.` },
        ...(running ? [{ name: 'start', detail: `Start ${ref.name}.` }] : []),
      ],
      { refusals },
    );
  }

  override async restore(ref: InstanceRef, name: string): Promise<BackgroundWork> {
    throwFirstRefusal(await this.planRestore(ref, name));
    return async (report) => {
      const running = isLive(await findVm(this.deps.api, ref));
      if (running) await this.stop(ref, report);
      try {
        await this.replaceDisks(ref, name, report);
      } finally {
        // After a failure the VM has its previous content.
        if (running && !report.signal.aborted) {
          report.step('Starting the VM');
          await this.power.apply(ref, 'start');
        }
      }
    };
  }

  override async planDelete(ref: InstanceRef, name: string): Promise<Plan> {
    await this.find(ref, name);
    return buildPlan([
      { name: 'delete', detail: `VirtualMachineSnapshot ${name}, with the snapshots of its volumes.` },
    ]);
  }

  override async delete(ref: InstanceRef, name: string): Promise<AcceptedSnapshotWork> {
    const { metadata } = await this.find(ref, name);
    await this.deps.api.delete(SNAPSHOTS, { namespace: ref.namespace, name }, { uid: metadata.uid });
    return {
      remaining: (report) =>
        followObject({
          ...this.deps,
          resource: SNAPSHOTS,
          object: { metadata: { ...metadata, namespace: ref.namespace } },
          signal: report.signal,
          onChange: () => false,
          onRemoved: () => true,
        }),
    };
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

  private async awaitSnapshot(object: SnapshotObject, report: TaskReporter): Promise<void> {
    const name = object.metadata.name ?? '';
    report.step('Saving the disks');
    await followObject<SnapshotObject>({
      ...this.deps,
      resource: SNAPSHOTS,
      object,
      signal: report.signal,
      onChange: ({ status }) => {
        if (status?.phase === 'Failed')
          throw new DomainError(
            'BACKEND_FAILED',
            `The snapshot ${name} failed: ${failureOf(status) ?? 'KubeVirt gave no reason'}.`,
          );
        return status?.phase === 'Succeeded' && status.readyToUse === true;
      },
      onRemoved: () => {
        throw new DomainError('SNAPSHOT_NOT_FOUND', `The snapshot ${name} was deleted.`);
      },
    });
  }

  private async stop(ref: InstanceRef, report: TaskReporter): Promise<void> {
    report.step('Stopping the VM');
    const { vmi } = await findVm(this.deps.api, ref);
    await this.power.apply(ref, 'stop', { force: true });
    if (!vmi) return;
    await followObject({
      ...this.deps,
      resource: VM_INSTANCES,
      object: vmi,
      signal: report.signal,
      onChange: () => false,
      onRemoved: () => true,
    });
  }

  private async replaceDisks(ref: InstanceRef, snapshot: string, report: TaskReporter): Promise<void> {
    const { api } = this.deps;
    report.step('Restoring the disks');
    await this.removeEnded(ref);
    const suffix = randomBytes(SUFFIX_BYTES).toString('hex');
    const restore = await api.create<RestoreObject>(RESTORES, {
      metadata: {
        name: `${snapshot.slice(0, MAX_NAME_LENGTH - suffix.length - 1)}-${suffix}`,
        namespace: ref.namespace,
        labels: { [LABEL.vm]: ref.name },
      },
      spec: { target: referenceTo(ref), virtualMachineSnapshotName: snapshot },
    } as KubeObject);
    await followObject<RestoreObject>({
      ...this.deps,
      resource: RESTORES,
      object: restore,
      signal: report.signal,
      onChange: ({ status }) => {
        const failure = failureOf(status);
        if (failure !== undefined)
          throw new DomainError('BACKEND_FAILED', `The restore of ${snapshot} failed: ${failure}.`);
        return status?.complete === true;
      },
      onRemoved: () => {
        throw new DomainError('BACKEND_FAILED', `The restore of ${snapshot} was deleted before it had ended.`);
      },
    });
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
