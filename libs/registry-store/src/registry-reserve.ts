import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DomainError, formatBytes, messageOf } from '@headgate/domain-contracts';
import type { SqliteDatabase } from '@headgate/sqlite';

const MIB = 1024 ** 2;
/**
 * The pages that are added at a time, and the least size of the write-ahead log: twice what SQLite lets it hold before
 * it empties it.
 */
const RESERVE_BYTES = 8 * MIB;
/** For other records than the entries of changes, such as the journals of tasks. */
const SPARE_BYTES = 4 * MIB;
/** The pages that the longest entry of a change and its indexes take. */
const BYTES_PER_CHANGE = 16 * 1024;
/** Below, changes are refused. The reserve is built from it: in the file, and in the write-ahead log. */
const MIN_FREE_BYTES = 2 * RESERVE_BYTES;

/**
 * The space for the records of changes that have begun. It is inside the registry's files, as free pages and as the
 * length of the write-ahead log, so that no other program can take it: a change that has begun is recorded even when
 * the disk has no byte left. The file system must overwrite blocks in place; those that write elsewhere (btrfs, ZFS)
 * need free space for each write.
 */
export class RegistryReserve {
  private taken = 0;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly file: string,
  ) {}

  /** The space of the folder's file system, and how much must be free for further changes. Both in bytes. */
  get disk(): { readonly folder: string; readonly freeBytes: number; readonly requiredBytes: number } {
    const folder = dirname(this.file);
    const { bfree, bavail, bsize } = statfsSync(folder);
    // Root may use the blocks that a file system reserves.
    return { folder, freeBytes: (process.getuid?.() === 0 ? bfree : bavail) * bsize, requiredBytes: MIN_FREE_BYTES };
  }

  /**
   * Asks the file system each time, which takes microseconds, so that changes are accepted again as soon as there is
   * space.
   * @throws DomainError REGISTRY_FULL
   */
  expectSpace(): void {
    const { freeBytes } = this.disk;
    if (freeBytes < MIN_FREE_BYTES) throw this.full(freeBytes);
    this.take()();
  }

  /**
   * Takes the space for the records of one change, and builds more when little is left.
   * @returns gives it back
   * @throws DomainError REGISTRY_FULL when all of it is taken, and the disk has no space for more; NOT_READY when the
   *   registry is not open or can't be written
   */
  take(): () => void {
    const needed = SPARE_BYTES + (this.taken + 1) * BYTES_PER_CHANGE;
    if (!this.holds(needed)) this.build(Math.max(RESERVE_BYTES, needed + SPARE_BYTES));
    this.taken++;
    let isTaken = true;
    return () => {
      if (isTaken) this.taken--;
      isTaken = false;
    };
  }

  private holds(bytes: number): boolean {
    const freePages = this.database.get<{ freelist_count: number }>('PRAGMA freelist_count')?.freelist_count ?? 0;
    const pageSize = this.database.get<{ page_size: number }>('PRAGMA page_size')?.page_size ?? 0;
    return freePages * pageSize >= bytes && this.logBytes >= RESERVE_BYTES;
  }

  /** SQLite overwrites the write-ahead log and never shortens it, until it is closed. */
  private get logBytes(): number {
    return statSync(`${this.file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /**
   * Writes so many bytes to both files and frees the pages again. Takes 0.1 s, once after the start and then once for
   * thousands of entries.
   */
  private build(bytes: number): void {
    const { database } = this;
    const { freeBytes } = this.disk;
    // A transaction that fails would keep the last free bytes of the disk in the write-ahead log.
    if (freeBytes < 2 * bytes) throw this.full(freeBytes);
    try {
      database.run('INSERT OR REPLACE INTO reserve (id, space) VALUES (1, zeroblob(?))', bytes);
      // Pages that are only in the log have no place in the file yet. A program that reads the file may delay some of
      // them.
      database.get('PRAGMA wal_checkpoint(PASSIVE)');
      database.run('DELETE FROM reserve');
    } catch (error) {
      if (DomainError.is(error)) throw error;
      if (isFull(error)) throw this.full(freeBytes, error);
      throw new DomainError('NOT_READY', `The registry can't be written: ${messageOf(error)}.`, { cause: error });
    }
  }

  private full(freeBytes: number, cause?: unknown): DomainError {
    const why =
      cause === undefined
        ? `${formatBytes(freeBytes)} are free, and at least ${formatBytes(MIN_FREE_BYTES)} are required`
        : `no space can be reserved (${messageOf(cause)})`;
    return new DomainError(
      'REGISTRY_FULL',
      `The disk of the registry, which holds ${dirname(this.file)}, is full: ${why}. Changes are refused until then, because they could not be recorded.`,
      { cause },
    );
  }
}

/**
 * A quota is an I/O error. Source: https://sqlite.org/rescode.html, whose extended codes have the primary one in the
 * lowest byte.
 */
const FULL_CODES = { SQLITE_IOERR: 10, SQLITE_FULL: 13 };
const isFull = (error: unknown): boolean =>
  Object.values(FULL_CODES).includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);
