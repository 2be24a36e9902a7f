import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { parseRow, ROW_BYTES, type HistoryRow } from './history-row.js';

/** "HGR1" */
const MAGIC = 0x31524748;
const HEADER_BYTES = 32;
/** The hash of an instance. */
export const KEY_BYTES = 16;

/**
 * A step in a file. Its keys are those that no earlier frame of the file has; the row of the n-th key of a file is the
 * n-th of each later frame, so one row can be read without the others.
 */
export interface Frame {
  /** When the step began, in milliseconds since the epoch. */
  readonly time: number;
  readonly firstKey: number;
  readonly keyCount: number;
  readonly rowCount: number;
  readonly keysAt: number;
  readonly rowsAt: number;
}

export interface FrameContent {
  readonly time: number;
  readonly firstKey: number;
  readonly keys: Buffer;
  readonly rows: Buffer;
}

export function encodeFrame({ time, firstKey, keys, rows }: FrameContent): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeDoubleLE(time, 8);
  header.writeUInt32LE(firstKey, 16);
  header.writeUInt32LE(keys.length / KEY_BYTES, 20);
  header.writeUInt32LE(rows.length / ROW_BYTES, 24);
  header.writeUInt32LE(checksum(header, keys), 4);
  return Buffer.concat([header, keys, rows]);
}

/** The frames of a file up to the first one that is incomplete or damaged, which begins at `end`. */
export async function scanFrames(file: FileHandle, size: number): Promise<{ frames: Frame[]; end: number }> {
  const frames: Frame[] = [];
  let end = 0;
  for (let known = 0; end < size;) {
    const frame = await frameAt(file, end, size, known);
    if (!frame) break;
    frames.push(frame);
    known += frame.keyCount;
    end = frame.rowsAt + frame.rowCount * ROW_BYTES;
  }
  return { frames, end };
}

async function frameAt(file: FileHandle, at: number, size: number, known: number): Promise<Frame | undefined> {
  if (at + HEADER_BYTES > size) return undefined;
  const header = await readBytes(file, at, HEADER_BYTES);
  const [firstKey, keyCount, rowCount] = [header.readUInt32LE(16), header.readUInt32LE(20), header.readUInt32LE(24)];
  const keysAt = at + HEADER_BYTES;
  const rowsAt = keysAt + keyCount * KEY_BYTES;
  if (header.readUInt32LE(0) !== MAGIC || firstKey !== known || rowsAt + rowCount * ROW_BYTES > size) return undefined;
  const keys = keyCount === 0 ? header.subarray(0, 0) : await readBytes(file, keysAt, keyCount * KEY_BYTES);
  if (header.readUInt32LE(4) !== checksum(header, keys)) return undefined;
  return { time: header.readDoubleLE(8), firstKey, keyCount, rowCount, keysAt, rowsAt };
}

/** The keys of a frame, in the order of their rows. */
export const readKeys = (file: FileHandle, { keysAt, keyCount }: Frame): Promise<Buffer> =>
  readBytes(file, keysAt, keyCount * KEY_BYTES);

/** The number of the row of a key, or -1. */
export async function findRow(file: FileHandle, frames: readonly Frame[], key: Buffer): Promise<number> {
  for (const frame of frames) {
    if (frame.keyCount === 0) continue;
    const keys = await readKeys(file, frame);
    for (let at = keys.indexOf(key); at !== -1; at = keys.indexOf(key, at + 1))
      if (at % KEY_BYTES === 0) return frame.firstKey + at / KEY_BYTES;
  }
  return -1;
}

export async function readRow(file: FileHandle, frame: Frame, row: number): Promise<HistoryRow | undefined> {
  if (row >= frame.rowCount) return undefined;
  return parseRow(await readBytes(file, frame.rowsAt + row * ROW_BYTES, ROW_BYTES), 0, frame.time);
}

export const readRows = (file: FileHandle, { rowsAt, rowCount }: Frame): Promise<Buffer> =>
  readBytes(file, rowsAt, rowCount * ROW_BYTES);

/** Zeros after the end of the file. */
async function readBytes(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer;
}

const checksum = (header: Buffer, keys: Buffer): number => crc32(keys, crc32(header.subarray(8)));
