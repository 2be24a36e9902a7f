import { createReadStream, read } from 'node:fs';
import { Readable } from 'node:stream';
import type { SparseFile } from './sparse-file.js';

/** The bytes of a disk, which never change. Several disks may share them. */
export interface DiskContent {
  readonly size: number;
  /** @param end after the last byte; default: all bytes. The bytes exist until the stream is closed. */
  read(start?: number, end?: number): Readable;
  /** Another disk has these bytes. */
  retain(): this;
  /** One disk no longer has them. */
  release(): void;
}

/** A small disk. */
export class MemoryContent implements DiskContent {
  constructor(private readonly data: Buffer) {}

  get size(): number {
    return this.data.length;
  }

  read(start = 0, end = this.size): Readable {
    return Readable.from([this.data.subarray(start, end)]);
  }

  retain(): this {
    return this;
  }

  release(): void {
    // The garbage collector frees it.
  }
}

const CHUNK_BYTES = 256 * 1024;
/** A stream of the file does not close it, because other streams may use it. */
const SHARED = { read, close: (_descriptor: number, closed: () => void) => closed() };

/** An uploaded disk. Its file is closed with its last disk and its last reader. */
export class FileContent implements DiskContent {
  private holders = 0;

  constructor(private readonly file: SparseFile) {}

  get size(): number {
    return this.file.size;
  }

  read(start = 0, end = this.size): Readable {
    if (start >= end) return Readable.from([]);
    const options = { fd: this.file.descriptor, fs: SHARED, start, end: end - 1, highWaterMark: CHUNK_BYTES };
    this.retain();
    return createReadStream('', options as never).once('close', () => this.release());
  }

  retain(): this {
    this.holders++;
    return this;
  }

  release(): void {
    if (--this.holders === 0) this.file.close();
  }
}
