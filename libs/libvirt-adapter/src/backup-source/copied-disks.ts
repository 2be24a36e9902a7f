import { stat } from 'node:fs/promises';
import type { BackupDisk, BackupReadRequest } from '@headgate/domain-contracts';
import type { BackupJob } from '../backups/backup-job.js';
import type { BackedUpDisk, DiskBackup } from '../connection/backup-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainId } from '../domains/domain-finder.js';
import { openMarkedDisk, type MarkedDisk } from '../export/marked-disk.js';
import type { OpenDiskDeps } from '../moves/libvirt-disk-source.js';
import { explainStop } from './explain-stop.js';
import { MomentDisks, type MomentOptions } from './moment-disks.js';
import { gapsOf, withoutZeros } from './zero-parts.js';

export interface CopiedDisksDeps extends OpenDiskDeps {
  readonly connection: LibvirtConnection;
  readonly job: Pick<BackupJob, 'finish' | 'onceClosed'>;
}

const SECTOR_BYTES = 512;
const REPORT_INTERVAL_MS = 1000;

/**
 * Reads copies of the disks, or of their changes, which QEMU writes into volumes of the pool first. Nothing is
 * connected to the QEMU of the guest, so that the end of this process does not affect it.
 */
export class CopiedDisks extends MomentDisks {
  private readonly opened: MarkedDisk[] = [];

  /** @param report receives the bytes that were copied so far */
  constructor(
    private readonly id: DomainId,
    private readonly deps: CopiedDisksDeps,
    private readonly report: BackupReadRequest['report'],
  ) {
    super();
  }

  override async begin(backup: DiskBackup): Promise<void> {
    await this.deps.connection.backups.beginBackup(this.id.uuid, backup);
  }

  override async open({ disks }: DiskBackup, { isIncrement, signal }: MomentOptions): Promise<readonly BackupDisk[]> {
    await this.whenCopied(disks, signal);
    const found: BackupDisk[] = [];
    for (const disk of disks) found.push(await this.openOne(disk, { isIncrement, signal }));
    return found;
  }

  override async close(): Promise<void> {
    for (const disk of this.opened.splice(0)) await disk.close();
  }

  private async whenCopied(disks: readonly BackedUpDisk[], signal: AbortSignal): Promise<void> {
    const { connection, job, clock } = this.deps;
    let isDone = false;
    const poll = async (): Promise<void> => {
      this.report?.(await allocatedBytes(disks));
      if (!isDone) stop = clock.after(REPORT_INTERVAL_MS, () => void poll());
    };
    let stop = clock.after(REPORT_INTERVAL_MS, () => void poll());
    try {
      await job.finish(this.id.uuid, signal);
    } catch (error) {
      signal.throwIfAborted();
      await explainStop(this.id, connection, error);
    } finally {
      isDone = true;
      stop();
    }
  }

  private async openOne(
    { target, file, hasBitmaps }: BackedUpDisk,
    { isIncrement, signal }: MomentOptions,
  ): Promise<BackupDisk> {
    const served = await this.deps.job.onceClosed(() =>
      openMarkedDisk({ path: file, format: 'qcow2' }, 'allocated', this.deps, signal),
    );
    this.opened.push(served);
    const { disk } = served;
    const copied = await disk.marked();
    const read = withoutZeros(gapsOf(copied, disk.sizeBytes), (offset, length) => disk.read(offset, length));
    const common = { name: target, sizeBytes: disk.sizeBytes, read };
    return isIncrement && hasBitmaps
      ? { ...common, changed: copied, hasOnlyChanges: true }
      : { ...common, changed: 'all' };
  }
}

/** The space that the copies take, as far as it is known. */
async function allocatedBytes(disks: readonly BackedUpDisk[]): Promise<number> {
  const sizes = disks.map(({ file }) =>
    stat(file).then(
      ({ blocks }) => blocks * SECTOR_BYTES,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}
