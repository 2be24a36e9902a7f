import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, type Log } from '@headgate/domain-contracts';
import { encodeFrame, findRow, KEY_BYTES, readKeys, readRow, readRows, scanFrames, type Frame } from './frames.js';
import { parseRow, ROW_BYTES, writeRow, type HistoryRow } from './history-row.js';
import { inTurns } from './in-turns.js';
import { floorTo, maxFiles, type Level } from './levels.js';

/** The rows of an instance, by the hash of its identity: `KEY_BYTES` bytes as a latin1 string. */
export type KeyedRow = readonly [key: string, row: HistoryRow];

interface Writer {
  readonly start: number;
  readonly file: FileHandle;
  readonly keys: Map<string, number>;
  length: number;
  frames: number;
}

/**
 * The files of one level in a folder. Each covers a period, has one frame for each step, and is only appended to. A
 * file that can't be read, or the damaged end of one, is left out with one line in the log.
 */
export class LevelFiles {
  private writer: Writer | undefined;
  /** The frames of files that are no longer written, by their start. */
  private readonly scanned = new Map<number, { readonly size: number; readonly frames: readonly Frame[] }>();
  private readonly reported = new Set<number>();

  constructor(
    private readonly folder: string,
    private readonly level: Level,
    private readonly log: Log,
    /** Nothing is written with less free space, in bytes: the registry on the same disk is more important. */
    private readonly minFreeBytes: number,
  ) {}

  /** @throws Error for a full disk, or any other of the file system; the file then has no part of the step */
  async append(time: number, rows: readonly KeyedRow[]): Promise<void> {
    const writer = await this.writerFor(floorTo(time, this.level.fileMs));
    // A clock that is set back again and again must not fill the disk.
    if (writer.frames >= (2 * this.level.fileMs) / this.level.stepMs) return;
    const { bavail, bsize } = await statfs(this.folder);
    if (bavail * bsize < this.minFreeBytes) throw new Error(`the disk has less than ${this.minFreeBytes} bytes free`);
    const added: string[] = [];
    await inTurns(rows, ([key]) => {
      if (writer.keys.has(key)) return;
      writer.keys.set(key, writer.keys.size);
      added.push(key);
    });
    const firstKey = writer.keys.size - added.length;
    const content = Buffer.alloc(writer.keys.size * ROW_BYTES);
    await inTurns(rows, ([key, row]) => writeRow(content, writer.keys.get(key)! * ROW_BYTES, row));
    const keys = Buffer.from(added.join(''), 'latin1');
    const frame = encodeFrame({ time, firstKey, keys, rows: content });
    try {
      await writeWhole(writer.file, frame, writer.length);
    } catch (error) {
      await this.close(writer.length);
      throw error;
    }
    writer.length += frame.length;
    writer.frames++;
  }

  /** The rows of an instance whose steps begin in a time, in the order in which they were written. */
  async read(key: string, from: number, to: number): Promise<HistoryRow[]> {
    const rows: HistoryRow[] = [];
    const wanted = Buffer.from(key, 'latin1');
    for (const start of await this.starts())
      if (start + this.level.fileMs > from && start <= to)
        await this.visit(start, async (file, frames) => {
          const row = await findRow(file, frames, wanted);
          if (row === -1) return;
          const inRange = frames.filter(({ time }) => time >= from && time <= to);
          const found = await Promise.all(inRange.map((frame) => readRow(file, frame, row)));
          rows.push(...found.filter((one) => one !== undefined));
        });
    return rows;
  }

  /** When the newest step until a time began, in milliseconds since the epoch. */
  async newest(until: number): Promise<number | undefined> {
    for (const start of (await this.starts()).toReversed()) {
      let newest: number | undefined;
      await this.visit(start, async (_file, frames) => {
        for (const { time } of frames) if (time <= until && time >= (newest ?? 0)) newest = time;
      });
      if (newest !== undefined) return newest;
    }
    return undefined;
  }

  /** Calls back with all rows of each step that begins in a time, oldest first. */
  async forEachStep(from: number, to: number, callback: (rows: readonly KeyedRow[]) => Promise<void>): Promise<void> {
    for (const start of await this.starts())
      if (start + this.level.fileMs > from && start <= to)
        await this.visit(start, async (file, frames) => {
          const keys: string[] = [];
          for (const frame of frames) {
            for (const key of split(await readKeys(file, frame))) keys.push(key);
            if (frame.time < from || frame.time > to) continue;
            const content = await readRows(file, frame);
            const rows: KeyedRow[] = [];
            let at = 0;
            await inTurns(keys, (key) => {
              const row = parseRow(content, at, frame.time);
              at += ROW_BYTES;
              if (row) rows.push([key, row]);
            });
            await callback(rows);
          }
        });
  }

  /** @param length the bytes to keep of the file that is being written; all of it by default */
  async close(length?: number): Promise<void> {
    const { writer } = this;
    this.writer = undefined;
    if (!writer) return;
    // Otherwise, the next start of the writer drops the rest.
    if (length !== undefined) await writer.file.truncate(length).catch(() => undefined);
    await writer.file.close().catch(() => undefined);
  }

  private async writerFor(start: number): Promise<Writer> {
    if (this.writer?.start === start) return this.writer;
    await this.close();
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const file = await open(this.pathOf(start), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const { size } = await file.stat();
      const { frames, end } = await scanFrames(file, size);
      if (end < size) {
        this.report(start, `the last ${size - end} bytes are damaged and were removed`);
        await file.truncate(end);
      }
      const keys = new Map<string, number>();
      for (const frame of frames) for (const key of split(await readKeys(file, frame))) keys.set(key, keys.size);
      this.writer = { start, file, keys, length: end, frames: frames.length };
    } catch (error) {
      await file.close();
      throw error;
    }
    this.scanned.delete(start);
    await this.removeOldest(start);
    return this.writer;
  }

  /**
   * Bounds the number of files instead of their age, so that a clock that is wrong for a while can't erase everything.
   * Files of the future go first, unless they are so many that the clock is more likely to be in the past.
   */
  private async removeOldest(current: number): Promise<void> {
    const starts = await this.starts();
    while (starts.length > maxFiles(this.level)) {
      const future = starts.filter((start) => start > current);
      const isClockAhead = future.length > 0 && future.length < starts.length / 2;
      const removed = isClockAhead ? future.at(-1)! : starts.find((start) => start !== current)!;
      starts.splice(starts.indexOf(removed), 1);
      this.scanned.delete(removed);
      await rm(this.pathOf(removed), { force: true });
    }
  }

  /** The starts of the existing files, oldest first. */
  private async starts(): Promise<number[]> {
    const { range } = this.level;
    const names = await readdir(this.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names
      .map((name) => new RegExp(`^${range}-(\\d+)\\.rows$`).exec(name)?.[1])
      .filter((start) => start !== undefined)
      .map(Number)
      .toSorted((a, b) => a - b);
  }

  private async visit(
    start: number,
    visitor: (file: FileHandle, frames: readonly Frame[]) => Promise<void>,
  ): Promise<void> {
    let file: FileHandle | undefined;
    try {
      file = await open(this.pathOf(start), 'r');
      await visitor(file, await this.framesOf(start, file));
    } catch (error) {
      this.report(start, messageOf(error));
    } finally {
      await file?.close();
    }
  }

  private async framesOf(start: number, file: FileHandle): Promise<readonly Frame[]> {
    const { size } = await file.stat();
    const known = this.scanned.get(start);
    if (known?.size === size) return known.frames;
    const { frames, end } = await scanFrames(file, size);
    if (end < size) this.report(start, `the last ${size - end} bytes are damaged and are left out`);
    this.scanned.set(start, { size, frames });
    return frames;
  }

  private report(start: number, reason: string): void {
    if (this.reported.has(start)) return;
    this.reported.add(start);
    this.log.warn({ file: this.pathOf(start), reason }, 'a part of the usage history could not be read');
  }

  private readonly pathOf = (start: number): string => join(this.folder, `${this.level.range}-${start}.rows`);
}

const split = (keys: Buffer): string[] =>
  Array.from({ length: keys.length / KEY_BYTES }, (_none, index) =>
    keys.toString('latin1', index * KEY_BYTES, (index + 1) * KEY_BYTES),
  );

async function writeWhole(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  let done = 0;
  // A full disk may first write a part.
  while (done < bytes.length) done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}
