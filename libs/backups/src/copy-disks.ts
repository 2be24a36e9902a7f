import { Readable } from 'node:stream';
import {
  copyDisk,
  DISK_BLOCK_BYTES,
  DomainError,
  formatBytes,
  hashBlock,
  hashOfZeros,
  type DiskWriter,
  type StepContext,
} from '@headgate/domain-contracts';
import type { BackupStore } from './backup-store.js';
import { openDisk } from './stored-disk.js';

export interface CopiedDisks {
  readonly store: BackupStore;
  readonly point: string;
  readonly disks: readonly { readonly name: string; readonly sizeBytes: number }[];
}

/** Where the disks are written, and read back. */
export interface DiskReceiver {
  readonly write: (disk: string, signal: AbortSignal) => Promise<DiskWriter>;
  /** See `hashesOf`. */
  readonly hashes: (disk: string, signal: AbortSignal) => AsyncIterable<string>;
}

/**
 * Writes disks of a point, and reads each back.
 * @throws DomainError BACKEND_FAILED with the disk and the place if the repository or the storage has other content
 */
export async function copyDisks(
  { store, point, disks }: CopiedDisks,
  receiver: DiskReceiver,
  { signal, log, bytes }: Pick<StepContext<object>, 'signal' | 'log' | 'bytes'>,
): Promise<{ readonly writtenBytes: number }> {
  const totalBytes = disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let [doneBytes, writtenBytes] = [0, 0];
  for (const { name, sizeBytes } of disks) {
    const disk = await openDisk(store, point, { name, sizeBytes });
    const hashes: Promise<string>[] = [];
    writtenBytes += await copyDisk(
      Readable.from(disk.content(signal), { objectMode: false, signal }),
      await receiver.write(name, signal),
      (offset) => bytes(doneBytes + Math.min(offset, sizeBytes), totalBytes),
      async (block) => void hashes.push(hashBlock(block)),
    );
    signal.throwIfAborted();
    await expectEqual(name, hashes, receiver.hashes(name, signal));
    doneBytes += sizeBytes;
    log(`The disk ${name} was written, and read back.`);
  }
  log(`${formatBytes(writtenBytes)} of ${formatBytes(totalBytes)} were written, the rest is zeros.`);
  return { writtenBytes };
}

/** Blocks of zeros at the end may be missing on either side. */
async function expectEqual(
  disk: string,
  expected: readonly Promise<string>[],
  written: AsyncIterable<string>,
): Promise<void> {
  const zeros = await hashOfZeros();
  let index = 0;
  for await (const hash of written) {
    if (((await expected[index]) ?? zeros) !== hash) throw different(disk, index);
    index += 1;
  }
  for (; index < expected.length; index += 1) if ((await expected[index]) !== zeros) throw different(disk, index);
}

const different = (disk: string, block: number): DomainError =>
  new DomainError(
    'BACKEND_FAILED',
    `The disk ${disk} is not the one of the backup at ${formatBytes(block * DISK_BLOCK_BYTES)}: check the storage.`,
  );
