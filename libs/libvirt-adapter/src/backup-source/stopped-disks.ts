import { rm } from 'node:fs/promises';
import type { BackupDisk } from '@headgate/domain-contracts';
import type { NbdDisk } from '../export/nbd-disk.js';
import { NbdServer } from '../export/nbd-server.js';
import type { CopyableDisk } from '../moves/copyable-disks.js';
import type { OpenDiskDeps } from '../moves/libvirt-disk-source.js';

export interface OpenedDisks {
  readonly disks: readonly BackupDisk[];
  close(): Promise<void>;
}

/** Serves the disks of a stopped domain. QEMU does not start the domain meanwhile. */
export async function openStoppedDisks(
  found: readonly CopyableDisk[],
  { clock, createTemporaryFolder }: OpenDiskDeps,
  signal: AbortSignal,
): Promise<OpenedDisks> {
  const releases: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const release of releases.splice(0)) await release();
  };
  const open = async (disk: CopyableDisk): Promise<NbdDisk> => {
    signal.throwIfAborted();
    const folder = await createTemporaryFolder();
    releases.push(() => rm(folder, { recursive: true, force: true }));
    const server = NbdServer.start(disk, folder);
    releases.unshift(() => server.stop());
    return server.openDisk(clock, signal);
  };
  try {
    const disks: BackupDisk[] = [];
    for (const one of found) {
      const disk = await open(one);
      releases.unshift(async () => disk.close());
      disks.push({
        name: one.target,
        sizeBytes: disk.sizeBytes,
        changed: 'all',
        read: (offset, length) => disk.read(offset, length),
      });
    }
    return { disks, close };
  } catch (error) {
    await close();
    throw error;
  }
}
