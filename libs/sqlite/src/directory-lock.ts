import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The result code of SQLite for a file that another process holds. Source: https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/** Another process works in the directory. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';

  constructor(readonly path: string) {
    super(`${path} is in use by another process`);
  }
}

/**
 * Gives a data directory to one process at a time. The operating system releases the lock when the process ends, however it
 * ends.
 */
export class DirectoryLock {
  private constructor(private readonly lock: DatabaseSync) {}

  /** Creates the directory when it does not exist. @throws DirectoryInUseError */
  static acquire(path: string): DirectoryLock {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = new DatabaseSync(join(path, 'lock'));
    try {
      lock.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      lock.close();
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
      throw new DirectoryInUseError(path);
    }
    return new DirectoryLock(lock);
  }

  release(): void {
    if (this.lock.isOpen) this.lock.close();
  }
}
