import type { Readable } from 'node:stream';
import { closeStream } from './close-when-read.js';
import { blocksOf, dataRuns } from './disk-blocks.js';
import type { DiskWriter } from './disk-writer.js';

export interface CopyReport {
  /** @param offset how much of the disk has been read */
  (offset: number): void;
}

/**
 * Copies the content of a disk without its zeros. Ends both streams, whatever happens.
 * @param inspect receives each block, of which only the last one may be shorter, and resolves when it can take the next
 *   one
 * @returns the number of bytes that were written
 */
export async function copyDisk(
  content: Readable,
  writer: DiskWriter,
  report: CopyReport,
  inspect?: (block: Buffer) => Promise<void>,
): Promise<number> {
  try {
    let offset = 0;
    let written = 0;
    for await (const block of blocksOf(content)) {
      for (const run of dataRuns(block)) {
        await writer.write(offset + run.offset, run.data);
        written += run.data.length;
      }
      await inspect?.(block);
      offset += block.length;
      report(offset);
    }
    await writer.finish();
    return written;
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    await closeStream(content);
  }
}
