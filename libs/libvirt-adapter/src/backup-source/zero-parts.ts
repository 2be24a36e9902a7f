import type { DiskExtent } from '@headgate/domain-contracts';

type Read = (offset: number, length: number) => Promise<Buffer>;

/** Does not ask for parts that are known to be zero. @param zeros in the order of the disk, not overlapping */
export function withoutZeros(zeros: readonly DiskExtent[], read: Read): Read {
  return async (offset, length) => {
    const extent = lastNotAfter(zeros, offset);
    const isZero = extent !== undefined && offset + length <= extent.offset + extent.length;
    return isZero ? Buffer.alloc(length) : read(offset, length);
  };
}

/** The parts of a disk between the given ones. @param extents in the order of the disk, not overlapping */
export function gapsOf(extents: readonly DiskExtent[], sizeBytes: number): DiskExtent[] {
  const gaps: DiskExtent[] = [];
  let end = 0;
  for (const { offset, length } of [...extents, { offset: sizeBytes, length: 0 }]) {
    if (offset > end) gaps.push({ offset: end, length: offset - end });
    end = offset + length;
  }
  return gaps;
}

function lastNotAfter(extents: readonly DiskExtent[], offset: number): DiskExtent | undefined {
  let [low, high] = [0, extents.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((extents[middle]?.offset ?? Infinity) <= offset) low = middle + 1;
    else high = middle;
  }
  return extents[low - 1];
}
