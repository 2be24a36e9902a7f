import type { Readable } from 'node:stream';
import { copyDisk, DISK_BLOCK_BYTES, type DiskIngest, type IngestTarget } from '@headgate/domain-contracts';
import type { PaceMeter } from '../estimates/pace.js';
import { BlockHashes, compareDisks } from './compare-disks.js';

export interface WholeDiskCopy {
  /** The disk as it is at one moment. */
  readonly content: Readable;
  readonly ingest: DiskIngest;
  readonly target: IngestTarget;
  readonly disk: string;
  readonly sizeBytes: number;
  readonly meter: PaceMeter;
  /** @param doneBytes of the size: the first half is copied, the second one compared */
  readonly report: (doneBytes: number) => void;
  readonly signal: AbortSignal;
}

export interface CopiedDisk {
  /** Of each block. */
  readonly hashes: string[];
  readonly writtenBytes: number;
}

/**
 * Copies a disk whose guest runs, and compares the copy with the blocks that were read, because the disk changes
 * meanwhile.
 * @throws DomainError BACKEND_FAILED if they differ
 */
export async function copyAndCompare(copy: WholeDiskCopy): Promise<CopiedDisk> {
  const { content, ingest, target, disk, sizeBytes, meter, report, signal } = copy;
  const read = new BlockHashes();
  const openWriter = () => ingest.write(target, disk, signal);
  const writer = await meter
    .measure('open', openWriter, () => 1)
    .catch((error: unknown) => {
      content.destroy();
      throw error;
    });
  const reportCopied = (offset: number): void => report(Math.floor(offset / 2));
  const writtenBytes = await meter.measure(
    'copy',
    () => copyDisk(content, writer, reportCopied, (block) => read.add(block)),
    (bytes) => bytes,
  );
  signal.throwIfAborted();
  const hashes = await read.all();
  const written = ingest.hashes(target, disk, signal);
  const reportCompared = (block: number): void =>
    report(Math.floor((sizeBytes + Math.min(sizeBytes, block * DISK_BLOCK_BYTES)) / 2));
  await meter.measure(
    'compare',
    () => compareDisks(hashes, written, reportCompared),
    () => writtenBytes,
  );
  signal.throwIfAborted();
  return { hashes, writtenBytes };
}
