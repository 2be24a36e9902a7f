import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 ** 2;

/** A small file system at a folder, which another program fills. Needs root, to mount it. */
export class SmallDisk {
  /** @param folder exists */
  constructor(
    readonly folder: string,
    mib: number,
  ) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'headgate-test', folder]);
  }

  get freeBytes(): number {
    const { bfree, bsize } = statfsSync(this.folder);
    return bfree * bsize;
  }

  /** Writes as another program until only so much is free. */
  fill(freeBytes = 0): void {
    const file = openSync(this.filler, 'a');
    try {
      for (let left = this.freeBytes - freeBytes; left > 0; left = this.freeBytes - freeBytes)
        writeSync(file, Buffer.alloc(Math.min(left, MIB)));
    } finally {
      closeSync(file);
    }
  }

  /** Changes its size, so that so much is free: as if another program had written the rest, but without its memory. */
  resize(freeBytes: number): void {
    const { blocks, bfree, bsize } = statfsSync(this.folder);
    const size = (blocks - bfree) * bsize + freeBytes;
    execFileSync('mount', ['-o', `remount,size=${size}`, this.folder]);
  }

  /** Deletes what the other program has written. */
  empty(): void {
    rmSync(this.filler, { force: true });
  }

  /** Programs that still have files open keep them. */
  unmount(): void {
    execFileSync('umount', ['--lazy', this.folder]);
  }

  private get filler(): string {
    return join(this.folder, 'filler');
  }
}
