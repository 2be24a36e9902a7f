import { deepEqual } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VirtualMachineInstance, VolumeStatus } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { claimInfo } from './volume-status.js';

const claimOf = (
  context: SimulationContext,
  vmi: VirtualMachineInstance,
  status: VolumeStatus,
): PersistentVolumeClaim | undefined => {
  const name = status.persistentVolumeClaimInfo?.claimName;
  return name === undefined
    ? undefined
    : context.find<PersistentVolumeClaim>(RESOURCES.claim, vmi.metadata.namespace, name);
};

/** Whether a disk of the VMI has grown since the VMI last reported its size. */
export const hasOutdatedClaims = (context: SimulationContext, vmi: VirtualMachineInstance): boolean =>
  (vmi.status?.volumeStatus ?? []).some((status) => {
    const claim = claimOf(context, vmi, status);
    return claim !== undefined && !deepEqual(claim.status?.capacity, status.persistentVolumeClaimInfo?.capacity);
  });

/** Updates the sizes of the disks, on a draft. */
export function refreshClaims(context: SimulationContext, vmi: VirtualMachineInstance): void {
  for (const status of vmi.status?.volumeStatus ?? []) {
    const claim = claimOf(context, vmi, status);
    if (claim) status.persistentVolumeClaimInfo = claimInfo(claim);
  }
}
