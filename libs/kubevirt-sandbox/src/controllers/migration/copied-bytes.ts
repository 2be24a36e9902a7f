import { quantityValue } from '../../quantity.js';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';

/** The size of the disks that a migration copies to other claims. */
export function copiedBytes(context: SimulationContext, { metadata, status }: VirtualMachineInstance): number {
  const sizes = (status?.migratedVolumes ?? []).map(({ sourcePVCInfo }) => {
    const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, metadata.namespace, sourcePVCInfo.claimName);
    return quantityValue(claim?.status?.capacity?.storage ?? '0');
  });
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
