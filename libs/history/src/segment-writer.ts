import { constants } from 'node:fs';
import { open, rename, rm, statfs, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatBytes } from '@headgate/domain-contracts';
import { encodeFrame, type FrameContent } from './frames.js';
import { syncFolder, unfinishedPath, type Segment } from './segments.js';

/** Appends frames to a segment. What it has written stays written when a later write fails. */
export class SegmentWriter {
  /** The bytes with which it was opened. */
  firstBytes = 0;

  private constructor(
    readonly segment: Segment,
    private readonly file: FileHandle,
    private readonly minFreeBytes: number,
    private end: number,
  ) {}

  /** The bytes of the segment. */
  get bytes(): number {
    return this.end;
  }

  /** Continues an existing segment after its complete frames. The rest is removed. */
  static async reopen(segment: Segment, end: number, minFreeBytes: number): Promise<SegmentWriter> {
    const file = await open(segment.path, constants.O_RDWR);
    const writer = new SegmentWriter(segment, file, minFreeBytes, end);
    await writer.undoing(() => file.truncate(end));
    return writer;
  }

  /** A new segment, which exists as soon as all of its first frames are on the disk, and else not at all. */
  static async create(
    segment: Segment,
    frames: AsyncIterable<FrameContent>,
    minFreeBytes: number,
  ): Promise<SegmentWriter> {
    const path = unfinishedPath(segment);
    const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600);
    const writer = new SegmentWriter(segment, file, minFreeBytes, 0);
    try {
      for await (const frame of frames) await writer.append(frame);
      await writer.sync();
      writer.firstBytes = writer.end;
    } catch (error) {
      await writer.close();
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
    return writer;
  }

  /** Gives a created segment its name. */
  async publish(): Promise<void> {
    await this.undoing(() => rename(unfinishedPath(this.segment), this.segment.path));
    await syncFolder(dirname(this.segment.path));
  }

  /** @throws Error for a full disk, or any other of the file system; the segment then has no part of the frame */
  async append(content: FrameContent): Promise<void> {
    await expectSpace(dirname(this.segment.path), this.minFreeBytes);
    const frame = await encodeFrame(content);
    try {
      for (let done = 0; done < frame.length;)
        done += (await this.file.write(frame, done, frame.length - done, this.end + done)).bytesWritten;
    } catch (error) {
      // Otherwise, the next start removes the rest.
      await this.file.truncate(this.end).catch(() => undefined);
      throw error;
    }
    this.end += frame.length;
  }

  async sync(): Promise<void> {
    await this.file.datasync();
  }

  async close(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }

  private async undoing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.close();
      throw error;
    }
  }
}

/** @throws Error when the disk of a folder has less free space */
export async function expectSpace(folder: string, minFreeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < minFreeBytes) throw new Error(`The disk has less than ${formatBytes(minFreeBytes)} free.`);
}
