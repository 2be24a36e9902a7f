import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim, StorageClass } from '../types/core-kinds.js';
import type { Volume } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { snapshotClassFor } from '../storage-classes/snapshot-class.js';

/** The claim of a volume, if it has one. */
export const claimNameOf = (volume: Volume): string | undefined =>
  volume.dataVolume?.name ?? volume.persistentVolumeClaim?.claimName;

/** KubeVirt's word for a kind of volume that can't be snapshotted. */
function sourceWord(volume: Volume): string {
  if (volume.cloudInitNoCloud || volume.cloudInitConfigDrive) return 'cloudinit';
  return (
    Object.keys(volume)
      .find((key) => key !== 'name')
      ?.toLowerCase() ?? 'unknown'
  );
}

/** `status.volumeSnapshotStatuses`: whether a snapshot of the VM would include each of its volumes. */
export function volumeSnapshotStatuses(context: SimulationContext, vm: VirtualMachine) {
  return (vm.spec.template.spec.volumes ?? []).map((volume) => ({
    name: volume.name,
    ...statusOf(context, vm, volume),
  }));
}

function statusOf(
  context: SimulationContext,
  vm: VirtualMachine,
  volume: Volume,
): { enabled: boolean; reason?: string } {
  const claimName = claimNameOf(volume);
  if (claimName === undefined) {
    return { enabled: false, reason: `Snapshot is not supported for this volumeSource type [${sourceWord(volume)}]` };
  }
  const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, vm.metadata.namespace, claimName);
  if (!claim) return { enabled: false, reason: 'PVC not found' };
  const className = claim.spec.storageClassName;
  const storageClass = className && context.find<StorageClass>(RESOURCES.storageClass, undefined, className);
  if (!storageClass || !snapshotClassFor(context, storageClass)) {
    return {
      enabled: false,
      reason: `No VolumeSnapshotClass: Volume snapshots are not configured for this StorageClass [${className ?? ''}] [${volume.name}]`,
    };
  }
  return { enabled: true };
}
