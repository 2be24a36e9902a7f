import { hostname, userInfo } from 'node:os';
import { loadPoly1305 } from './crypto/poly1305.js';
import { isId } from './format/json.js';
import { MAX_BLOB_BYTES } from './format/blobs.js';
import { RepositoryLock } from './locks/repository-lock.js';
import { systemClock } from './locks/system-clock.js';
import { check } from './maintenance/check.js';
import { prune } from './maintenance/prune.js';
import {
  DamagedError,
  FileNotFoundError,
  InvalidInputError,
  PathNotFoundError,
  SnapshotNotFoundError,
} from './model/errors.js';
import type {
  BackupInput,
  BackupOptions,
  CheckOptions,
  CheckReport,
  CreateOptions,
  FileEntry,
  PruneOptions,
  PruneReport,
  ReadingLock,
  RepositoryOptions,
  Snapshot,
  SnapshotReport,
  SnapshotWriter,
} from './model/types.js';
import type { RepositoryFile } from './reading/repository-file.js';
import { SnapshotTree } from './reading/snapshot-tree.js';
import { StoredFile } from './reading/stored-file.js';
import { BlobReader } from './store/blob-reader.js';
import { IndexCache } from './store/index-cache.js';
import {
  createRepository,
  type OpenedRepository,
  openRepository,
  reopenRepository,
} from './store/opened-repository.js';
import type { SealedFiles } from './store/sealed-files.js';
import { loadSnapshot, loadSnapshots } from './store/snapshots.js';
import type { RepositoryTarget } from './target/repository-target.js';
import { writeSnapshot } from './writing/backup.js';

const DEFAULT_CACHE_BYTES = 32 << 20;

/**
 * A repository in restic's format, version 2. It may be used at the same time as other instances and as restic itself;
 * locks in the repository keep operations apart that exclude each other.
 */
export class ResticRepository {
  /** The ID of the repository, in hexadecimal; restic shows its first 10 digits. */
  readonly id: string;
  private readonly sealed: SealedFiles;
  private readonly index: IndexCache;
  private readonly reader: BlobReader;
  private readonly trees: SnapshotTree;

  private constructor(
    private readonly opened: OpenedRepository,
    private readonly options: RepositoryOptions,
  ) {
    this.id = opened.id;
    this.sealed = opened.files;
    this.index = new IndexCache(this.sealed);
    this.reader = new BlobReader(this.sealed, this.index);
    this.trees = new SnapshotTree(this.reader);
  }

  /**
   * Creates an empty repository.
   * @throws RepositoryExistsError
   */
  static async create(
    target: RepositoryTarget,
    password: string,
    options: CreateOptions = {},
  ): Promise<ResticRepository> {
    await loadPoly1305();
    const created = new Date((options.clock ?? systemClock).now()).toISOString();
    const origin = { created, username: userInfo().username, hostname: options.hostname ?? hostname() };
    return new ResticRepository(await createRepository(target, password, origin, options.scrypt), options);
  }

  /** @throws NotARepositoryError, WrongPasswordError, UnsupportedVersionError, DamagedError */
  static async open(
    target: RepositoryTarget,
    password: string,
    options: RepositoryOptions = {},
  ): Promise<ResticRepository> {
    await loadPoly1305();
    return new ResticRepository(await openRepository(target, password), options);
  }

  /**
   * The same repository again, with the key of this one: nothing is derived from the password. It has no index yet.
   * @throws NotARepositoryError when it is gone; WrongPasswordError when the key was removed from it, as a change of
   *   the password does, or another repository has taken its place
   */
  async again(target: RepositoryTarget): Promise<ResticRepository> {
    return new ResticRepository(await reopenRepository(target, this.opened), this.options);
  }

  /** @throws LockedError while another process excludes writers */
  expectWritable(): Promise<void> {
    const { clock = systemClock, hostname: host = hostname() } = this.options;
    return RepositoryLock.expectShareable({ files: this.sealed, clock, hostname: host });
  }

  /** Bytes of all packs, which is nearly all that the repository takes. Lists them. */
  async usedBytes(): Promise<number> {
    return (await this.sealed.target.list('data')).reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Writes one snapshot with the files that `write` adds, under a shared lock. The snapshot becomes visible at the
   * end, as a whole. If it fails or is canceled, nothing but garbage for `prune` remains.
   * @throws LockedError, LostLockError, CanceledError, and the errors of `write` and of the target
   */
  backup(
    input: BackupInput,
    write: (writer: SnapshotWriter) => Promise<void>,
    options: BackupOptions = {},
  ): Promise<SnapshotReport> {
    return this.locked(false, (lock) =>
      writeSnapshot(
        {
          files: this.sealed,
          index: this.index,
          lock,
          findContent: (snapshotId, path) => this.contentOf(snapshotId, path),
          username: userInfo().username,
        },
        input,
        write,
        options,
      ),
    );
  }

  /** All snapshots, the oldest first. Unreadable ones are left out here and reported by `check`. */
  async snapshots(): Promise<Snapshot[]> {
    return [...(await loadSnapshots(this.sealed)).snapshots];
  }

  /**
   * Opens a file for reading. The data of a snapshot that is forgotten meanwhile may be pruned; `lockForReading`
   * prevents this.
   * @throws SnapshotNotFoundError, PathNotFoundError, DamagedError
   */
  async openFile(snapshotId: string, path: string): Promise<RepositoryFile> {
    const { tree } = await loadSnapshot(this.sealed, snapshotId);
    const { blobs } = await this.index.refresh();
    const node = await this.trees.findFile(tree, path);
    const cacheBytes = Math.min(this.options.cacheBytes ?? DEFAULT_CACHE_BYTES, MAX_BLOB_BYTES);
    return StoredFile.open(path, node, blobs, this.reader, cacheBytes);
  }

  /**
   * The files of a snapshot, sorted by path.
   * @throws SnapshotNotFoundError, DamagedError
   */
  async files(snapshotId: string): Promise<FileEntry[]> {
    const { tree } = await loadSnapshot(this.sealed, snapshotId);
    await this.index.refresh();
    return this.trees.files(tree);
  }

  /**
   * Removes snapshots, but not their data, which `prune` removes. IDs that are gone already are skipped.
   * @throws LockedError
   */
  async forget(ids: readonly string[]): Promise<void> {
    const odd = ids.find((id) => !isId(id));
    if (odd !== undefined) throw new InvalidInputError(`ids: ${JSON.stringify(odd)} is no full ID of 64 digits.`);
    await this.locked(false, async () => {
      for (const id of ids) {
        try {
          await this.sealed.target.remove('snapshots', id);
        } catch (error) {
          if (!(error instanceof FileNotFoundError)) throw error;
        }
      }
    });
  }

  /**
   * Removes data that no snapshot needs, under an exclusive lock. It may be killed at any moment; the next call goes
   * on.
   * @throws LockedError, CanceledError, DamagedError: without every index and tree it removes nothing
   */
  prune(options: PruneOptions = {}): Promise<PruneReport> {
    return this.locked(true, (lock) => prune({ files: this.sealed, index: this.index, lock }, options));
  }

  /** Verifies the repository under a shared lock. @throws LockedError, CanceledError */
  check(options: CheckOptions): Promise<CheckReport> {
    return this.locked(false, (lock) => {
      const signal = options.signal ? AbortSignal.any([options.signal, lock.signal]) : lock.signal;
      return check({ files: this.sealed, index: this.index, signal }, options);
    });
  }

  /**
   * Keeps `prune` away until it is released, for long reads of snapshots that may be forgotten meanwhile.
   * @throws LockedError
   */
  async lockForReading(): Promise<ReadingLock> {
    const lock = await this.acquire(false);
    return { signal: lock.signal, release: () => lock.release() };
  }

  private async locked<T>(isExclusive: boolean, work: (lock: RepositoryLock) => Promise<T>): Promise<T> {
    const lock = await this.acquire(isExclusive);
    try {
      return await work(lock);
    } finally {
      await lock.release();
    }
  }

  private acquire(isExclusive: boolean): Promise<RepositoryLock> {
    const { clock = systemClock, hostname: host = hostname() } = this.options;
    return RepositoryLock.acquire({ files: this.sealed, clock, hostname: host }, isExclusive);
  }

  /** The blobs of the parent of a file. If it is gone or damaged, the file is read in whole. */
  private async contentOf(snapshotId: string, path: string): Promise<readonly string[] | undefined> {
    try {
      const { tree } = await loadSnapshot(this.sealed, snapshotId);
      return (await this.trees.findFile(tree, path)).content;
    } catch (error) {
      const isGone = error instanceof SnapshotNotFoundError || error instanceof PathNotFoundError;
      if (isGone || error instanceof DamagedError) return undefined;
      throw error;
    }
  }
}
