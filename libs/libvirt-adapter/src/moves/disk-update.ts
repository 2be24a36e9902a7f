import { rm } from 'node:fs/promises';
import type { DiskUpdate } from '@headgate/domain-contracts';
import { NbdServer } from '../export/nbd-server.js';
import type { OpenDiskDeps } from './libvirt-disk-source.js';

/** Opens a qcow2 disk to change parts of it. No other program can use it until the update has ended. */
export async function openUpdate(
  path: string,
  { clock, createTemporaryFolder }: OpenDiskDeps,
  signal: AbortSignal,
): Promise<DiskUpdate> {
  signal.throwIfAborted();
  const folder = await createTemporaryFolder();
  const server = NbdServer.start({ path, format: 'qcow2' }, folder, { access: 'write' });
  const release = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const disk = await server.openDisk(clock, signal);
    return {
      read: (offset, length) => disk.read(offset, length),
      write: (offset, data) => {
        signal.throwIfAborted();
        return disk.write(offset, data);
      },
      finish: async () => {
        await disk.flush();
        disk.close();
        await server.whenEnded();
        await release();
      },
      abort: async () => {
        disk.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}
