import type { Disk } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';

export const MIGRATING = 'Cannot handle volume requests while VMI migration is in progress';

/** The reason why a disk can't be plugged into a running guest, in KubeVirt's words; `subject` begins the message. */
export function hotplugDiskProblem(
  { release }: SimulationContext,
  disk: Disk | undefined,
  name: string,
  subject: string,
): string | undefined {
  if (!disk) return `${subject} for [${name}] requires the disk field to be set.`;
  const device = disk.disk ?? disk.lun;
  if (!device) return `${subject} for [${name}] requires diskDevice of type 'disk' or 'lun' to be used.`;
  const { bus = '' } = device;
  if (!release.since('1.6')) {
    return bus === 'scsi'
      ? undefined
      : `${subject} for [${name}] requires disk bus to be 'scsi'. [${bus}] is not permitted`;
  }
  if (disk.lun) {
    return bus === 'scsi'
      ? undefined
      : `${subject} for LUN [${name}] requires bus to be 'scsi'. [${bus}] is not permitted.`;
  }
  return ['scsi', 'virtio'].includes(bus)
    ? undefined
    : `${subject} for disk [${name}] requires bus to be 'scsi' or 'virtio'. [${bus}] is not permitted.`;
}
