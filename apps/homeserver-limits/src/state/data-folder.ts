import { ConfigError } from '@headgate/nest-kit';
import { DirectoryInUseError, DirectoryLock } from '@headgate/sqlite';
import type { OnApplicationShutdown } from '@nestjs/common';

/** The data directory. It belongs to one process at a time: two would overwrite each other's windows. */
export class DataFolder implements OnApplicationShutdown {
  private constructor(
    readonly path: string,
    private readonly lock: DirectoryLock | undefined,
  ) {}

  /**
   * Creates the directory when it does not exist.
   * @throws ConfigError when another process uses it, or it is not writable
   */
  static claim(path: string): DataFolder {
    try {
      return new DataFolder(path, DirectoryLock.acquire(path));
    } catch (error) {
      if (error instanceof DirectoryInUseError) throw new ConfigError('--data-dir', [error.message]);
      const { code, message } = error as NodeJS.ErrnoException;
      throw new ConfigError('--data-dir', [
        `${path} cannot be used: ${code === 'ERR_SQLITE_ERROR' ? message : (code ?? message)}`,
      ]);
    }
  }

  /** The directory of a worker, whose main process has claimed it. */
  static ofMainProcess(path: string): DataFolder {
    return new DataFolder(path, undefined);
  }

  onApplicationShutdown(): void {
    this.release();
  }

  release(): void {
    this.lock?.release();
  }
}
