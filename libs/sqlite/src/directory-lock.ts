import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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
 * Gives a data directory to one process at a time. The operating system releases the lock when the process ends,
 * however it ends.
 */
export class DirectoryLock {
  private constructor(private readonly lock: DatabaseSync) {}

  /** Creates the directory when it does not exist. @throws DirectoryInUseError */
  static acquire(path: string): DirectoryLock {
    createFolder(resolve(path));
    const file = join(path, 'lock');
    createPrivateFile(file);
    const lock = new DatabaseSync(file);
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

/**
 * Creates a directory and its parents. The recursive mode of Node never returns in a directory that takes no others,
 * such as /proc.
 */
function createFolder(path: string): void {
  const parent = dirname(path);
  if (statSync(parent, { throwIfNoEntry: false }) === undefined) createFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/**
 * A user who can open the file can hold the lock, so that it is for its owner only, even if others can read the
 * directory.
 */
function createPrivateFile(path: string): void {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let handle: number;
  try {
    handle = openSync(path, flags, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error;
    throw new Error(`${path} is not a file of this user: remove it.`, { cause: error });
  }
  try {
    const user = process.geteuid?.();
    const { uid } = fstatSync(handle);
    // Root may use the directory of another user.
    if (user !== undefined && uid !== user && !(user === 0 && uid === statSync(dirname(path)).uid))
      throw new Error(`${path} is not a file of this user: remove it.`);
    fchmodSync(handle, 0o600);
  } finally {
    closeSync(handle);
  }
}
