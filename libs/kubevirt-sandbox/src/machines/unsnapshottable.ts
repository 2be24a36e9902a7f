import type { VirtualMachine } from '../types/virtual-machine.js';

/** A claim that can't be snapshotted prevents a clone; disks that are created again do not. */
export function unsnapshottable(vm: VirtualMachine): string | undefined {
  const statuses = vm.status?.volumeSnapshotStatuses ?? [];
  const broken = statuses.find(
    ({ enabled, reason = '' }) => !enabled && !reason.startsWith('Snapshot is not supported'),
  );
  return broken && `Virtual Machine volume ${broken.name} does not support snapshots`;
}
