import { formatBytes, type Refusal } from '@headgate/domain-contracts';
import type { RecordedCheckpoints } from '../backups/recorded-checkpoints.js';
import type { CopyableDisk } from '../moves/copyable-disks.js';
import type { QemuImg } from '../storage/qemu-img.js';

export interface CopySpaceDeps {
  readonly images: Pick<QemuImg, 'copyBytes'>;
  readonly checkpoints: Pick<RecordedCheckpoints, 'changedBytes'>;
}

/**
 * The space that copies of disks take at most, or copies of their changes since a checkpoint. A checkpoint whose record
 * is lost counts as none.
 */
export async function copySpace(
  uuid: string,
  disks: readonly CopyableDisk[],
  since: string | undefined,
  { images, checkpoints }: CopySpaceDeps,
): Promise<{ readonly bytes: number; readonly isIncrement: boolean }> {
  const changed = since === undefined ? undefined : await checkpoints.changedBytes(uuid, since);
  const whole = changed === undefined ? disks : disks.filter(({ format }) => format !== 'qcow2');
  let bytes = changed ?? 0;
  for (const { path, format } of whole) bytes += await images.copyBytes(path, format);
  return { bytes, isIncrement: changed !== undefined };
}

const MIB = 1024 ** 2;
const inMib = (bytes: number): string => formatBytes(Math.ceil(bytes / MIB) * MIB);

/** @param copyBytes 0 if the disks are read without a copy */
export function spaceRefusal(
  name: string,
  {
    pool,
    availableBytes,
    copyBytes,
  }: { readonly pool: string; readonly availableBytes: number; readonly copyBytes: number },
): Refusal {
  const free = `The storage pool ${pool} has ${inMib(availableBytes)} free`;
  return {
    code: 'INSUFFICIENT_STORAGE',
    reason:
      copyBytes > 0
        ? `${free}, not enough for a copy of the disks of ${name}, which takes up to ${inMib(copyBytes)}: a disk with an I/O thread is copied before it is read.`
        : `${free}, not enough for what ${name} writes while it is backed up.`,
    remedy: 'Free some space on the machine, or stop the VM.',
  };
}
