import { ConfigError } from '@headgate/nest-kit';
import { DirectoryInUseError, DirectoryLock } from '@headgate/sqlite';
import type { OnApplicationShutdown } from '@nestjs/common';

/** The data directory. It belongs to one process at a time: two would overwrite each other's windows. */
export class DataFolder implements OnApplicationShutdown {
  private constructor(
    readonly path: string,
    private readonly lock: DirectoryLock,
  ) {}

  /** Creates the directory when it does not exist. @throws ConfigError when another process uses it */
  static claim(path: string): DataFolder {
    try {
      return new DataFolder(path, DirectoryLock.acquire(path));
    } catch (error) {
      if (error instanceof DirectoryInUseError) throw new ConfigError('--data-dir', [error.message]);
      throw error;
    }
  }

  onApplicationShutdown(): void {
    this.release();
  }

  release(): void {
    this.lock.release();
  }
}
