import { rm } from 'node:fs/promises';
import { DISK_BLOCK_BYTES, isZero, type Clock, type DiskExtent } from '@headgate/domain-contracts';
import { NbdServer } from '../export/nbd-server.js';

export interface StoppedDisk {
  /** Of a qcow2 file that no guest uses. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly read: (offset: number, length: number) => Promise<Buffer>;
}

export interface CopyStoppedDeps {
  readonly clock: Clock;
  readonly createTemporaryFolder: () => Promise<string>;
}

/** The part of one copy, so that a start of the VM does not wait for more than this. */
export interface CopySlice {
  readonly from: number;
  /** The copy ends at the first block after this time. */
  readonly until: number;
  readonly signal: AbortSignal;
}

/**
 * Writes what a file does not have yet: everything that it has is kept, because the guest may have written it. Zeros
 * are not written. QEMU can't start a guest with the file meanwhile.
 * @returns the offset up to which the file is complete, which stays true whatever the guest does later
 */
export async function copyStopped(
  { path, sizeBytes, read }: StoppedDisk,
  { from, until, signal }: CopySlice,
  { clock, createTemporaryFolder }: CopyStoppedDeps,
): Promise<number> {
  const folder = await createTemporaryFolder();
  const server = NbdServer.start({ path, format: 'qcow2' }, folder, { access: 'write', marks: 'allocated' });
  try {
    const disk = await server.openDisk(clock, signal);
    const missing = complementOf(await disk.marked(), sizeBytes);
    let offset = from;
    let failure: unknown;
    for (const extent of missing) {
      const end = extent.offset + extent.length;
      for (offset = Math.max(offset, extent.offset); offset < end && clock.now() < until;) {
        const length = Math.min(DISK_BLOCK_BYTES, end - offset);
        const data = signal.aborted
          ? undefined
          : await read(offset, length).catch((error: unknown) => void (failure = error));
        if (!data) break;
        if (!isZero(data)) await disk.write(offset, data);
        offset += length;
      }
      if (offset < end) break;
    }
    // Also after a failure, so that the file is closed in order.
    await disk.flush();
    disk.close();
    await server.whenEnded();
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    const last = missing.at(-1);
    return last === undefined || offset >= last.offset + last.length ? sizeBytes : offset;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param extents in the order of the disk, without overlaps */
export function complementOf(extents: readonly DiskExtent[], sizeBytes: number): DiskExtent[] {
  const missing: DiskExtent[] = [];
  let at = 0;
  for (const { offset, length } of [...extents, { offset: sizeBytes, length: 0 }]) {
    if (offset > at) missing.push({ offset: at, length: offset - at });
    at = Math.max(at, offset + length);
  }
  return missing;
}
