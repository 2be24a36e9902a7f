import { DomainError, type InstanceRef, type Refusal } from '@headgate/domain-contracts';
import { instanceNotFound } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import { conditionOf, type Condition, type KubeObject } from '../api/kube-object.js';
import type { VmiObject, VmObject } from '../api/object-types.js';
import { SNAPSHOTS, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { LABEL } from '../labels.js';

interface Reference {
  readonly kind?: string;
  readonly name?: string;
}

/** The fields of a VirtualMachineSnapshot that this adapter reads. Source: https://kubevirt.io/api-reference/ */
export interface SnapshotObject extends KubeObject {
  readonly spec?: { readonly source?: Reference };
  readonly status?: {
    readonly phase?: string;
    readonly readyToUse?: boolean;
    readonly creationTime?: string;
    readonly sourceUID?: string;
    readonly error?: { readonly message?: string };
    readonly conditions?: readonly Condition[];
    /** How the guest was when the snapshot was created. */
    readonly indications?: readonly string[];
    /** The same, in releases since 1.7. */
    readonly sourceIndications?: readonly { readonly indication: string }[];
    readonly snapshotVolumes?: {
      readonly includedVolumes?: readonly string[];
      readonly excludedVolumes?: readonly string[];
    };
  };
}

export interface RestoreObject extends KubeObject {
  readonly spec?: { readonly target?: Reference };
  readonly status?: { readonly complete?: boolean; readonly conditions?: readonly Condition[] };
}

export interface CloneObject extends KubeObject {
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

/** A VM with the parts of its status that say whether its disks can be saved. */
export interface SnapshotSource extends VmObject {
  readonly status?: VmObject['status'] & {
    readonly snapshotInProgress?: string;
    readonly restoreInProgress?: string;
    readonly volumeSnapshotStatuses?: readonly {
      readonly name: string;
      readonly enabled?: boolean;
      readonly reason?: string;
    }[];
  };
}

export interface FoundVm {
  readonly vm: SnapshotSource;
  /** Present while the VM runs. */
  readonly vmi?: VmiObject;
}

/** @throws DomainError INSTANCE_NOT_FOUND */
export async function findVm(api: KubeApi, ref: InstanceRef): Promise<FoundVm> {
  const [vm, vmi] = await Promise.all([
    api.find<SnapshotSource>(VIRTUAL_MACHINES, ref),
    api.find<VmiObject>(VM_INSTANCES, ref),
  ]);
  if (!vm) throw instanceNotFound(ref);
  return { vm, ...(vmi && { vmi }) };
}

/** All snapshots of a namespace. */
export const snapshotsIn = (api: KubeApi, namespace: string): Promise<SnapshotObject[]> =>
  api.list<SnapshotObject>(SNAPSHOTS, { namespace });

/**
 * Whether a snapshot is one of this very VM. No label connects them, an earlier VM may have had the same name, and a
 * clone or a backup in progress has a temporary snapshot.
 */
export function isSnapshotOf({ spec, status, metadata }: SnapshotObject, { vm }: FoundVm): boolean {
  const { kind, name } = spec?.source ?? {};
  if (kind !== 'VirtualMachine' || name !== vm.metadata.name) return false;
  if (metadata.ownerReferences?.some((owner) => owner.kind === 'VirtualMachineClone')) return false;
  if (metadata.labels?.[LABEL.backup] !== undefined) return false;
  if (status?.sourceUID !== undefined) return status.sourceUID === vm.metadata.uid;
  return (metadata.creationTimestamp ?? '') >= (vm.metadata.creationTimestamp ?? '');
}

/** Why the disks of a VM can't be saved now. KubeVirt reports the text in the reason of a condition. */
export function sourceRefusals({ vm, vmi }: FoundVm, facts: ClusterFacts): Refusal[] {
  const name = vm.metadata.name ?? '';
  const { snapshotInProgress, restoreInProgress, volumeSnapshotStatuses = [] } = vm.status ?? {};
  const refusals: Refusal[] = [];
  const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
    void refusals.push({ code, reason, remedy });
  if (!facts.isGateEnabled('Snapshot'))
    refuse(
      'NOT_SUPPORTED',
      "Snapshots and clones need KubeVirt's feature gate Snapshot.",
      'Add it to the feature gates of the KubeVirt object.',
    );
  const wait = 'Wait until that has ended.';
  if (snapshotInProgress) refuse('BUSY', `The snapshot ${snapshotInProgress} of ${name} is in progress.`, wait);
  if (restoreInProgress) refuse('BUSY', `The restore ${restoreInProgress} of ${name} is in progress.`, wait);
  const { migrationState } = vmi?.status ?? {};
  if (migrationState && migrationState.completed !== true && migrationState.failed !== true)
    refuse('BUSY', `${name} is being migrated.`, wait);
  const disks = new Set(
    (vm.spec?.template?.spec?.volumes ?? [])
      .filter(({ dataVolume, persistentVolumeClaim }) => dataVolume ?? persistentVolumeClaim)
      .map((volume) => volume.name),
  );
  for (const status of volumeSnapshotStatuses) {
    if (!disks.has(status.name) || status.enabled !== false) continue;
    refuse(
      'NOT_SUPPORTED',
      `The disk ${status.name} of ${name} can't be saved: ${status.reason ?? 'its storage has no snapshots'}.`,
      'Use a storage class whose driver has a VolumeSnapshotClass.',
    );
  }
  return refusals;
}

/** The reason of a failure: KubeVirt writes it into the error, or into the reason of a condition. */
export function failureOf(
  status: { readonly error?: { readonly message?: string }; readonly conditions?: readonly Condition[] } | undefined,
): string | undefined {
  const failure = conditionOf(status?.conditions, 'Failure');
  const isFailed = failure?.status === 'True';
  return (
    status?.error?.message ?? (isFailed ? (failure.message ?? failure.reason ?? 'KubeVirt gave no reason') : undefined)
  );
}

export const snapshotNotFound = ({ name }: InstanceRef, snapshot: string): DomainError =>
  new DomainError('SNAPSHOT_NOT_FOUND', `${name} has no snapshot ${snapshot}.`);
