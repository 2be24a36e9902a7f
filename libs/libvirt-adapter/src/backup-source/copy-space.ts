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
