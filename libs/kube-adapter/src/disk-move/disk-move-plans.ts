import {
  buildPlan,
  DomainError,
  formatBytes,
  refusal,
  type DiskMoveRequest,
  type InstanceRef,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';
import { conditionOf, isTrue } from '../api/kube-object.js';
import type { ClaimObject, VmiObject } from '../api/object-types.js';
import { CLAIMS } from '../api/resources.js';
import { storageClasses } from '../cluster/storage-classes.js';
import { isMigrating } from '../hardware/live-changes.js';
import {
  claimBytes,
  findDataVolume,
  isHotpluggable,
  readVmState,
  type HardwareDeps,
  type VmState,
} from '../hardware/vm-hardware.js';
import { findVolume, type FoundVolume } from '../hardware/volumes/find-volume.js';
import { bytesOf } from '../inventory/guest-size.js';
import { findTarget } from '../migration/find-target.js';
import { remedyOf } from '../migration/migration-target.js';
import { isOwnedBy, type MoveRecord } from './move-record.js';
import { moveObstacle } from './move-support.js';

export interface PreparedMove {
  readonly plan: Plan;
  readonly state: VmState;
  /** Absent if the plan has refusals. */
  readonly move?: { readonly record: MoveRecord; readonly bytes: number };
}

/** The volume of KubeVirt's own for the firmware and the TPM, which its migrations handle. */
const STATE_VOLUME = /^persistent-state-for-/;

/** The checks before a move. They change nothing. KubeVirt itself reports most problems only as a required restart. */
export class DiskMovePlans {
  constructor(private readonly deps: HardwareDeps) {}

  async prepare(ref: InstanceRef, { volume, storage }: DiskMoveRequest): Promise<PreparedMove> {
    const { api } = this.deps;
    const state = await readVmState(this.deps, ref);
    const { vm, vmi } = state;
    const found = findVolume(state, volume);
    const refusals = [...vmRefusals(state), ...('code' in found ? [found] : diskRefusals(state, found))];
    const classes = await storageClasses(api);
    if (!classes.some(({ metadata }) => metadata.name === storage)) {
      const names = classes.map(({ metadata }) => metadata.name).join(', ') || 'none';
      const reason = `There is no storage class ${storage}. The cluster has: ${names}.`;
      refusals.push(refusal('VOLUME_NOT_FOUND', reason, 'Name a storage class of the cluster.'));
    }
    if (vmi) refusals.push(...(await this.nodeRefusals(ref, vmi)));
    if ('code' in found || found.claim === undefined) return { state, plan: buildPlan([], { refusals }) };

    const path = { namespace: ref.namespace, name: found.claim };
    const [claim, dataVolume] = await Promise.all([api.find<ClaimObject>(CLAIMS, path), findDataVolume(api, path)]);
    if (claim?.spec?.storageClassName === storage) {
      const reason = `${found.claim} is in ${storage} already.`;
      refusals.push(refusal('WRONG_STATE', reason, 'Choose another storage class.'));
    }
    const seen = (await claimBytes(this.deps, ref, found.claim)) ?? 0;
    // The guest sees the whole claim if that has no file system.
    const bytes =
      claim?.spec?.volumeMode === 'Block' ? Math.max(seen, bytesOf(claim.status?.capacity?.storage) ?? 0) : seen;
    if (bytes === 0) {
      const reason = `The size of ${found.claim} is not known.`;
      refusals.push(refusal('WRONG_STATE', reason, 'Wait until the disk is ready.'));
    }
    const isOwned = [claim, dataVolume].some((one) => one !== undefined && isOwnedBy(one, vm));
    const owner = dataVolume ?? claim;
    const template = vm.spec?.dataVolumeTemplates?.find(({ metadata }) => metadata.name === found.claim);
    const record: MoveRecord = {
      instance: vmi?.metadata.uid ?? '',
      storage,
      volume: found.source,
      ...(template && { template }),
      ...(isOwned &&
        owner && {
          owned: {
            kind: dataVolume ? ('DataVolume' as const) : ('PersistentVolumeClaim' as const),
            uid: owner.metadata.uid ?? '',
          },
        }),
    };
    const steps = [
      { name: 'volume', detail: `Create a DataVolume of ${formatBytes(bytes)} in ${storage}.` },
      { name: 'migrate', detail: `Migrate ${ref.name} live to another node, which copies the disk ${found.disk}.` },
      ...(isOwned
        ? [{ name: 'delete', detail: `${record.owned?.kind} ${found.claim}, once the copy is in use.` }]
        : []),
    ];
    const warnings = isOwned
      ? []
      : [`${found.claim} was not created for ${ref.name}: it is kept, with its content of the time of the move.`];
    const plan = buildPlan(refusals.length > 0 ? [] : steps, { warnings, refusals });
    return { state, plan, ...(refusals.length === 0 && { move: { record, bytes } }) };
  }

  /** A live migration needs another node. */
  private async nodeRefusals(ref: InstanceRef, vmi: VmiObject): Promise<Refusal[]> {
    const pin = vmi.spec?.nodeSelector?.['kubernetes.io/hostname'];
    if (pin !== undefined) {
      const reason = `${ref.name} was created for the node ${pin}; a disk is copied by a migration to another node.`;
      return [refusal('WRONG_STATE', reason, 'Move the disks of VMs that may run on several nodes.')];
    }
    try {
      await findTarget(this.deps, vmi);
      return [];
    } catch (error) {
      if (!DomainError.is(error, 'WRONG_STATE')) throw error;
      const reason = `A disk is copied by a migration to another node. ${error.message}`;
      return [refusal('WRONG_STATE', reason, remedyOf(error) ?? 'Wait until another node is available.')];
    }
  }
}

function vmRefusals(state: VmState): Refusal[] {
  const { ref, vm, vmi, facts } = state;
  const { name } = ref;
  const { snapshotInProgress, restoreInProgress, conditions } = vm.status ?? {};
  const refusals: Refusal[] = [];
  const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
    void refusals.push(refusal(code, reason, remedy));
  const wait = 'Wait until that has ended.';
  const obstacle = moveObstacle(facts);
  if (obstacle !== undefined) refuse('NOT_SUPPORTED', obstacle, 'Change the configuration of KubeVirt.');
  if (isTrue(conditions, 'ManualRecoveryRequired')) {
    const reason = `A move of a disk of ${name} was interrupted, and KubeVirt does not start it until its spec names the old volume.`;
    refuse('WRONG_STATE', reason, 'Let the VM use its old volume again.');
  }
  if (vmi?.status?.phase !== 'Running')
    refuse('WRONG_STATE', `${name} is not running. Only disks of a running VM are moved.`, 'Start it first.');
  if (isMigrating(state)) refuse('BUSY', `${name} is being migrated.`, wait);
  // Which nodes can use a disk is known when it is attached, and a migration has to attach it on its target.
  const changing = vmi?.status?.volumeStatus?.find((one) => one.hotplugVolume && one.phase !== 'Ready');
  if (changing) refuse('BUSY', `The disk ${changing.name} of ${name} is being attached or detached.`, wait);
  if (snapshotInProgress) refuse('BUSY', `The snapshot ${snapshotInProgress} of ${name} is in progress.`, wait);
  if (restoreInProgress) refuse('BUSY', `The restore ${restoreInProgress} of ${name} is in progress.`, wait);
  if (isTrue(conditions, 'RestartRequired')) {
    const reason = `${name} has changes that wait for a restart, and KubeVirt applies no others until then.`;
    refuse('WRONG_STATE', reason, 'Restart the VM first.');
  }
  const storage = conditionOf(vmi?.status?.conditions, 'StorageLiveMigratable');
  if (storage?.status === 'False') {
    const reason = `${name} can't be migrated, which copies its disks: ${storage.message ?? storage.reason}.`;
    refuse('WRONG_STATE', reason, 'Change what prevents migrations of the VM.');
  }
  return refusals;
}

function diskRefusals({ ref, vmi, spec }: VmState, { disk: name, source, claim }: FoundVolume): Refusal[] {
  const live = vmi?.spec ?? spec;
  const disk = live.domain?.devices?.disks?.find((one) => one.name === name);
  const refuse = (reason: string, remedy: string): Refusal[] => [refusal('NOT_SUPPORTED', reason, remedy)];
  if (claim === undefined) return refuse(`${name} is not on a PVC.`, 'Move a disk that is on a PVC.');
  if (isHotpluggable(source))
    return refuse(
      `${name} was added to the running VM, and KubeVirt does not move such disks.`,
      'Move a disk that the VM was created with.',
    );
  if (disk?.shareable) return refuse(`${name} is shared with other VMs.`, 'Move a disk of one VM only.');
  if (disk?.lun) return refuse(`${name} is a LUN.`, 'Move a disk.');
  if (live.domain?.devices?.filesystems?.some((one) => one.name === name))
    return refuse(`${name} is a file system, not a disk.`, 'Move a disk.');
  const left = vmi?.status?.volumeStatus?.find(
    (one) =>
      one.name !== name &&
      !STATE_VOLUME.test(one.name) &&
      one.persistentVolumeClaimInfo?.accessModes?.includes('ReadWriteOnce'),
  );
  if (!left) return [];
  const reason = `${ref.name} has another disk, ${left.name}, that only one node can use, and disks are moved one at a time.`;
  return refuse(reason, 'Move the disks of VMs whose other disks are shared between nodes.');
}
