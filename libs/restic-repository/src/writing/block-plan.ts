import { InvalidInputError } from '../model/errors.js';
import type { ByteRange } from '../model/types.js';

export const BLOCK_BYTES = 1 << 20;

/** Sorted ranges that neither overlap nor touch. @throws InvalidInputError */
export function mergeRanges(ranges: readonly ByteRange[], name: string): ByteRange[] {
  for (const { offset, length } of ranges) {
    if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) {
      throw new InvalidInputError(`${name}: offset ${offset} with length ${length} is no range of bytes.`);
    }
  }
  const sorted = ranges.filter(({ length }) => length > 0).sort((a, b) => a.offset - b.offset);
  const merged: ByteRange[] = [];
  for (const { offset, length } of sorted) {
    const last = merged.at(-1);
    if (last && offset <= last.offset + last.length) {
      const end = Math.max(last.offset + last.length, offset + length);
      merged[merged.length - 1] = { offset: last.offset, length: end - last.offset };
    } else merged.push({ offset, length });
  }
  return merged;
}

/** Answers questions about blocks that are asked in the order of their offsets. */
export class RangeCursor {
  private at = 0;

  constructor(private readonly merged: readonly ByteRange[]) {}

  /** Whether a range has a part of the block. */
  touches(offset: number, length: number): boolean {
    const range = this.seek(offset);
    return range !== undefined && range.offset < offset + length;
  }

  /** Whether a range has the whole block. */
  covers(offset: number, length: number): boolean {
    const range = this.seek(offset);
    return range !== undefined && range.offset <= offset && range.offset + range.length >= offset + length;
  }

  /** The first range that ends after the offset. */
  private seek(offset: number): ByteRange | undefined {
    for (; ; this.at++) {
      const range = this.merged[this.at];
      if (!range || range.offset + range.length > offset) return range;
    }
  }
}
