import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of the recording. It begins with the whole fleet, so that it can be read without the others. */
export interface Segment {
  /** Grows with each file. The times need not: the clock may have been set back. */
  readonly sequence: number;
  /** In milliseconds since the epoch. */
  readonly start: number;
  /** The one before has later times: the clock was set back. */
  readonly isSetBack: boolean;
  readonly path: string;
}

const NAME = /^(\d{8})-(\d+)(-back)?\.fleet$/;
const UNFINISHED = '.part';

export const segmentAt = (folder: string, sequence: number, start: number, isSetBack: boolean): Segment => ({
  sequence,
  start,
  isSetBack,
  path: join(folder, `${String(sequence).padStart(8, '0')}-${start}${isSetBack ? '-back' : ''}.fleet`),
});

/** Where a segment is until it has the whole fleet. */
export const unfinishedPath = ({ path }: Segment): string => `${path}${UNFINISHED}`;

/** The segments of a folder, the oldest first; none if it does not exist. */
export async function listSegments(folder: string): Promise<Segment[]> {
  const found = (await namesIn(folder)).flatMap((name) => {
    const [, sequence, start, back] = NAME.exec(name) ?? [];
    return start === undefined ? [] : [segmentAt(folder, Number(sequence), Number(start), back !== undefined)];
  });
  return found.toSorted((one, other) => one.sequence - other.sequence);
}

/** Removes the segments that a killed process had not finished. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await namesIn(folder))
    if (name.endsWith(`.fleet${UNFINISHED}`)) await rm(join(folder, name), { force: true });
}

/** The bytes of a segment; none if it was removed meanwhile. */
export const readSegment = ({ path }: Segment): Promise<Buffer> =>
  readFile(path).catch((error: unknown) => orIfAbsent(error, Buffer.alloc(0)));

export async function sizeOf({ path }: Segment): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    return orIfAbsent(error, 0);
  }
}

/** Makes the new names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => orIfAbsent<string[]>(error, []));

function orIfAbsent<T>(error: unknown, value: T): T {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return value;
  throw error;
}
