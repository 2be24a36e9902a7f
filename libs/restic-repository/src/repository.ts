import type { RepositoryFile } from './reading/repository-file.js';
import type { RepositoryTarget } from './target/repository-target.js';
import type {
  BackupInput,
  BackupOptions,
  CheckOptions,
  CheckReport,
  CreateOptions,
  FileEntry,
  PruneOptions,
  PruneReport,
  RepositoryOptions,
  Snapshot,
  SnapshotReport,
  SnapshotWriter,
} from './types.js';

/**
 * A repository in restic's format, version 2. It may be used at the same time as other instances and as restic itself;
 * locks in the repository keep operations apart that exclude each other.
 */
export declare class ResticRepository {
  /** The ID of the repository, in hexadecimal; restic shows its first 10 digits. */
  readonly id: string;

  /**
   * Creates an empty repository.
   * @throws RepositoryExistsError
   */
  static create(target: RepositoryTarget, password: string, options?: CreateOptions): Promise<ResticRepository>;

  /** @throws NotARepositoryError, WrongPasswordError, UnsupportedVersionError, DamagedError */
  static open(target: RepositoryTarget, password: string, options?: RepositoryOptions): Promise<ResticRepository>;

  /**
   * Writes one snapshot with the files that `write` adds, under a shared lock. The snapshot becomes visible at the end,
   * as a whole. If it fails or is canceled, nothing but garbage for `prune` remains.
   * @throws LockedError, LostLockError, CanceledError, and the errors of `write` and of the target
   */
  backup(
    input: BackupInput,
    write: (writer: SnapshotWriter) => Promise<void>,
    options?: BackupOptions,
  ): Promise<SnapshotReport>;

  /** All snapshots, the oldest first. Unreadable ones are left out here and reported by `check`. */
  snapshots(): Promise<Snapshot[]>;

  /** @throws SnapshotNotFoundError, PathNotFoundError, DamagedError */
  openFile(snapshotId: string, path: string): Promise<RepositoryFile>;

  /**
   * The files of a snapshot, sorted by path.
   * @throws SnapshotNotFoundError, DamagedError
   */
  files(snapshotId: string): Promise<FileEntry[]>;

  /**
   * Removes snapshots, but not their data, which `prune` removes. IDs that are gone already are skipped.
   * @throws LockedError
   */
  forget(ids: readonly string[]): Promise<void>;

  /**
   * Removes data that no snapshot needs, under an exclusive lock. It may be killed at any moment; the next call goes on.
   * @throws LockedError, CanceledError, DamagedError: without every index and tree it removes nothing
   */
  prune(options?: PruneOptions): Promise<PruneReport>;

  /** Verifies the repository under a shared lock. @throws LockedError, CanceledError */
  check(options: CheckOptions): Promise<CheckReport>;
}
