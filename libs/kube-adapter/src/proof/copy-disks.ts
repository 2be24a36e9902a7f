import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { copyDisk, DomainError, messageOf, type BootSpec, type ProofDisk } from '@headgate/domain-contracts';
import type { DataVolumeObject } from '../api/object-types.js';
import { writeVolume, type WriteVolumeDeps } from '../moves/write-volume.js';

const READ_BYTES = 4 * 1024 ** 2;

/** A disk of the backup can't be read, which says something about the backup. Errors of the cluster do not. */
export class DamagedDisk extends DomainError {
  constructor(disk: string, cause: unknown) {
    super('BACKEND_FAILED', `The disk ${disk} of the backup can't be read: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Copies all disks into their volumes.
 * @returns the SHA-256 of the content of each, in hexadecimal
 * @throws DamagedDisk, or the error of the cluster
 */
export async function copyDisks(
  deps: WriteVolumeDeps,
  { disks, onCopied }: Pick<BootSpec, 'disks' | 'onCopied'>,
  volumes: readonly DataVolumeObject[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const totalBytes = disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const hashes: string[] = [];
  let doneBytes = 0;
  for (const [index, disk] of disks.entries()) {
    const volume = volumes[index];
    if (!volume) throw new DomainError('BACKEND_FAILED', `The disk ${disk.name} has no volume.`);
    const hash = createHash('sha256');
    const reader = new DiskReader(disk, signal);
    const writer = await writeVolume(deps, volume, signal);
    try {
      await copyDisk(
        Readable.from(reader.parts(), { objectMode: false, signal }),
        writer,
        (offset) => onCopied?.(doneBytes + Math.min(offset, disk.sizeBytes), totalBytes),
        async (block) => void hash.update(block),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw reader.failure ?? error;
    }
    hashes.push(hash.digest('hex'));
    doneBytes += disk.sizeBytes;
  }
  return hashes;
}

class DiskReader {
  /** Why the disk could not be read. The stream would show it as an error of the copy. */
  failure: DamagedDisk | undefined;

  constructor(
    private readonly disk: ProofDisk,
    private readonly signal: AbortSignal,
  ) {}

  async *parts(): AsyncGenerator<Buffer> {
    const { name, sizeBytes } = this.disk;
    for (let offset = 0; offset < sizeBytes; offset += READ_BYTES) {
      this.signal.throwIfAborted();
      const length = Math.min(READ_BYTES, sizeBytes - offset);
      try {
        const part = await this.disk.read(offset, length);
        if (part.length !== length) throw new Error(`It ends after ${offset + part.length} of ${sizeBytes} bytes.`);
        yield part;
      } catch (error) {
        this.failure ??= new DamagedDisk(name, error);
        throw this.failure;
      }
    }
  }
}
