import { open } from 'node:fs/promises';
import { throwIfAborted } from '../model/abort.js';
import { DamagedError } from '../model/errors.js';
import type { ByteRange } from '../model/types.js';
import type { RepositoryFile } from './repository-file.js';

export interface RestoreOptions {
  readonly signal?: AbortSignal;
  /** Goes on after damaged blocks, which stay zeros. Otherwise, the first one ends the restore. */
  readonly skipDamaged?: boolean;
  readonly onProgress?: (doneBytes: number) => void;
}

export interface RestoreReport {
  readonly bytes: number;
  /** Bytes that are not zeros and were written. */
  readonly writtenBytes: number;
  readonly damaged: readonly ByteRange[];
}

const MODE = 0o600;
/** Writes at the same time; blocks are decrypted one after the other. */
const WRITES_AT_ONCE = 4;

/**
 * Writes a file of a snapshot to a new local file. Zeros become holes. The file is on the disk when it resolves;
 * after a failure, an incomplete file stays.
 */
export async function restoreFile(
  file: RepositoryFile,
  path: string,
  { signal, skipDamaged = false, onProgress }: RestoreOptions = {},
): Promise<RestoreReport> {
  const damaged: ByteRange[] = [];
  let writtenBytes = 0;
  const handle = await open(path, 'wx', MODE);
  const writing = new Set<Promise<unknown>>();
  try {
    await handle.truncate(file.size);
    for await (const block of file.blocks(signal)) {
      const { offset, length } = block;
      if (!block.isZero) {
        const bytes = await block.bytes().catch((error: unknown) => {
          if (!skipDamaged || !(error instanceof DamagedError)) throw error;
          damaged.push({ offset, length });
          return undefined;
        });
        if (bytes) {
          const write = handle.write(bytes, 0, length, offset).finally(() => writing.delete(write));
          writing.add(write);
          writtenBytes += length;
        }
        if (writing.size >= WRITES_AT_ONCE) await Promise.race(writing);
      }
      onProgress?.(offset + length);
    }
    await Promise.all(writing);
    throwIfAborted(signal);
    await handle.sync();
    return { bytes: file.size, writtenBytes, damaged };
  } finally {
    await Promise.allSettled(writing);
    await handle.close();
  }
}
