import type { Readable } from 'node:stream';
import {
  blocksOf,
  closeStream,
  DISK_BLOCK_BYTES,
  DomainError,
  hashBlock,
  hashOfZeros,
  type DiskChanges,
  type DiskUpdate,
} from '@headgate/domain-contracts';
import type { PaceMeter } from '../estimates/pace.js';
import { partsOf, type WarmDisk } from './warm-state.js';

/** One disk at both ends of a warm move. */
export interface WarmDiskEnds {
  readonly disk: WarmDisk;
  readonly changes: (since: number, signal: AbortSignal) => Promise<DiskChanges>;
  readonly update: (signal: AbortSignal) => Promise<DiskUpdate>;
  readonly signal: AbortSignal;
  readonly meter: PaceMeter;
  /** Receives the length of each part that was processed. */
  readonly report: (bytes: number) => void;
}

/** Enough to keep both ends busy. */
const MAX_PARTS = 4;

/** Copies what has changed since the moment that the copy has. */
export async function copyChanges({
  disk,
  changes,
  update,
  signal,
  meter,
  report,
}: WarmDiskEnds): Promise<{ readonly bytes: number; readonly isLast: boolean }> {
  const found = await changes(disk.moment, signal);
  try {
    const parts = [...partsOf(found.extents)];
    if (parts.length === 0) return { bytes: 0, isLast: found.isLast };
    // Before the first write, so that all written blocks are compared even if this is interrupted.
    for (const { block } of parts) disk.touched.add(block);
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const opened = await meter.measure(
      'open',
      () => update(signal),
      () => 1,
    );
    const write = (copy: DiskUpdate): Promise<void> =>
      inParallel(parts, async ({ offset, length }) => {
        signal.throwIfAborted();
        await copy.write(offset, await found.read(offset, length));
        report(length);
      });
    await meter.measure(
      'copy',
      () => updating(opened, write),
      () => bytes,
    );
    return { bytes, isLast: found.isLast };
  } finally {
    await found.close();
  }
}

/** Compares a stopped disk with its copy as a whole, and writes the blocks that differ. */
export async function rewriteDifferences(
  content: Readable,
  update: () => Promise<DiskUpdate>,
  { signal, report }: Pick<WarmDiskEnds, 'signal' | 'report'>,
): Promise<{ readonly bytes: number }> {
  try {
    let [offset, bytes] = [0, 0];
    await updating(await update(), async (copy) => {
      for await (const block of blocksOf(content)) {
        signal.throwIfAborted();
        if (!(await copy.read(offset, block.length)).equals(block)) {
          await copy.write(offset, block);
          bytes += block.length;
        }
        offset += block.length;
        report(block.length);
      }
    });
    return { bytes };
  } finally {
    await closeStream(content);
  }
}

/**
 * Reads the blocks that were copied again from both ends, and enters their hashes. All others were compared before, and
 * have not changed since.
 * @throws DomainError BACKEND_FAILED at a block that differs
 */
export async function verifyBlocks({
  disk,
  changes,
  update,
  signal,
  report,
}: Omit<WarmDiskEnds, 'meter'>): Promise<void> {
  if (disk.touched.size === 0) return;
  const blocks = [...disk.touched].sort(ascending);
  // A source may leave out the zeros at its end.
  for (const zeros = await hashOfZeros(); disk.hashes.length <= (blocks.at(-1) ?? 0);) disk.hashes.push(zeros);
  const source = await changes(disk.moment, signal);
  try {
    if (!source.isLast) throw new DomainError('WRONG_STATE', 'The VM was started during its move.');
    await updating(await update(signal), (copy) =>
      inParallel(blocks, async (block) => {
        signal.throwIfAborted();
        const offset = block * DISK_BLOCK_BYTES;
        const length = Math.min(DISK_BLOCK_BYTES, source.sizeBytes - offset);
        const [expected, written] = await Promise.all(
          [source, copy].map(async (end) => hashBlock(await end.read(offset, length))),
        );
        if (expected === undefined || expected !== written)
          throw new DomainError('BACKEND_FAILED', `The copy differs from the source in the block ${block} of 1 MiB.`);
        disk.hashes[block] = expected;
        report(length);
      }),
    );
  } finally {
    await source.close();
  }
}

async function updating(copy: DiskUpdate, work: (copy: DiskUpdate) => Promise<void>): Promise<void> {
  try {
    await work(copy);
    await copy.finish();
  } catch (error) {
    await copy.abort();
    throw error;
  }
}

/** Runs the work for all items, a few at a time. Ends with the first error, once the work that had begun has ended. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    for (const item of left) {
      if (hasFailed) return;
      await work(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: MAX_PARTS }, lane));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

const ascending = (a: number, b: number): number => a - b;
