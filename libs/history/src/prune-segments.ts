import { rm } from 'node:fs/promises';
import { listSegments, sizeOf } from './segments.js';

const DAY_MS = 86_400_000;

export interface PruneOptions {
  readonly folder: string;
  readonly days: number;
  readonly maxBytes: number;
  readonly now: number;
}

/**
 * Removes the oldest segments that are too old, or over the bytes. The newest segment stays, and so does each one that
 * may have a moment within the days.
 *
 * A clock that is wrong for a while must not remove everything: the age counts until the beginning of the last complete
 * segment, which is up to a day ago.
 */
export async function pruneSegments({ folder, days, maxBytes, now }: PruneOptions): Promise<void> {
  const segments = await listSegments(folder);
  const complete = segments.at(-2);
  if (!complete) return;
  const oldest = Math.min(now, complete.start) - days * DAY_MS;
  const sizes = await Promise.all(segments.map(sizeOf));
  let bytes = sizes.reduce((sum, size) => sum + size, 0);
  for (const [index, segment] of segments.slice(0, -1).entries()) {
    // It ends where the next one begins, unless that was written with a clock that was ahead.
    const end = segments[index + 1]!.start;
    const isAhead = segment.start > now + DAY_MS;
    if (bytes <= maxBytes && !isAhead && end > oldest) return;
    await rm(segment.path, { force: true });
    bytes -= sizes[index]!;
  }
}
