import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigError } from '@headgate/nest-kit';

const SQLITE_BUSY = 5;

/** The data directory, which belongs to one process at a time: two would write over each other's windows. */
export class DataFolder {
  private constructor(private readonly lock: DatabaseSync) {}

  /** Makes it when it is not there. @throws ConfigError when another process has it */
  static claim(path: string): DataFolder {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // A lock of the system, which goes with the process however that ends.
    const lock = new DatabaseSync(join(path, 'lock'));
    try {
      lock.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      lock.close();
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
      throw new ConfigError('--data-dir', [`${path} is in use by another process`]);
    }
    return new DataFolder(lock);
  }

  release(): void {
    if (this.lock.isOpen) this.lock.close();
  }
}
