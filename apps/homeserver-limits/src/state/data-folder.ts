import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigError } from '@headgate/nest-kit';
import type { OnApplicationShutdown } from '@nestjs/common';

const SQLITE_BUSY = 5;

/** The data directory. It belongs to one process at a time: two would overwrite each other's windows. */
export class DataFolder implements OnApplicationShutdown {
  private constructor(
    readonly path: string,
    private readonly lock: DatabaseSync,
  ) {}

  /** Creates the directory when it does not exist. @throws ConfigError when another process uses it */
  static claim(path: string): DataFolder {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // A lock of the operating system: it ends with the process, even after a crash.
    const lock = new DatabaseSync(join(path, 'lock'));
    try {
      lock.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      lock.close();
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
      throw new ConfigError('--data-dir', [`${path} is in use by another process`]);
    }
    return new DataFolder(path, lock);
  }

  onApplicationShutdown(): void {
    this.release();
  }

  release(): void {
    if (this.lock.isOpen) this.lock.close();
  }
}
