import { closeSync, ftruncate, mkdtempSync, openSync, rmSync, write } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const writeAt = promisify(write);
const setLength = promisify(ftruncate);

/** Blocks of zeros of this size are holes. */
const BLOCK_BYTES = 64 * 1024;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

/**
 * An anonymous file: it has no name, so the system frees it when it is closed or the process ends, in whatever way.
 * Zeros need no space in it.
 */
export class SparseFile {
  private bytes = 0;
  private isOpen = true;

  /** @param descriptor of an empty file that is open for reading and writing */
  constructor(readonly descriptor: number = openNameless()) {}

  get size(): number {
    return this.bytes;
  }

  /** @throws Error of the system, such as ENOSPC */
  async append(data: Buffer): Promise<void> {
    let next = 0;
    while (next < data.length) {
      const end = Math.min(data.length, next + BLOCK_BYTES - (this.bytes % BLOCK_BYTES));
      const block = data.subarray(next, end);
      if (!block.equals(ZEROS.subarray(0, block.length))) await this.writeAll(block);
      this.bytes += block.length;
      next = end;
    }
  }

  /** Gives the file its size, which ends with a hole if its last bytes are zeros. */
  finish(): Promise<void> {
    return setLength(this.descriptor, this.bytes);
  }

  close(): void {
    if (this.isOpen) closeSync(this.descriptor);
    this.isOpen = false;
  }

  private async writeAll(block: Buffer): Promise<void> {
    for (let written = 0; written < block.length;) {
      const { bytesWritten } = await writeAt(
        this.descriptor,
        block,
        written,
        block.length - written,
        this.bytes + written,
      );
      written += bytesWritten;
    }
  }
}

/** In one turn of the event loop, so that a process that is killed leaves no file with data. */
function openNameless(): number {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-sandbox-disk-'));
  try {
    return openSync(join(folder, 'disk'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
