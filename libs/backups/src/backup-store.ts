import type { BackupTarget, DiskExtent } from '@headgate/domain-contracts';

/** A snapshot of a repository. Only those with the tag of the service are points of VMs. */
export interface StoredSnapshot {
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  readonly tags: readonly string[];
}

export interface StoredDisk {
  readonly sizeBytes: number;
  readonly changed: 'all' | readonly DiskExtent[];
  /** Any part. */
  read(offset: number, length: number): Promise<Buffer>;
  /** The same disk in an earlier snapshot, which the changed parts refer to. */
  readonly parent?: { readonly snapshot: string; readonly path: string };
}

/** Adds files to a snapshot. */
export interface SnapshotFiles {
  disk(path: string, disk: StoredDisk): Promise<void>;
  data(path: string, content: Buffer): Promise<void>;
}

export interface NewSnapshot {
  readonly time: string;
  /** For people who list the repository with other programs. */
  readonly path: string;
  readonly tags: readonly string[];
  readonly signal: AbortSignal;
  /** @param bytes of all disks so far, whether they were read or are the same as before */
  readonly report: (bytes: number) => void;
}

export interface WrittenSnapshot {
  readonly id: string;
  readonly readBytes: number;
  /** By which the repository has grown. */
  readonly storedBytes: number;
}

/** A file of a snapshot. */
export interface StoredFile {
  readonly sizeBytes: number;
  read(offset: number, length: number): Promise<Buffer>;
  /** The whole content in order. Every part is verified. @throws DomainError BACKEND_FAILED for a damaged one */
  content(signal: AbortSignal): AsyncIterable<Buffer>;
}

export interface StoreSpace {
  readonly usedBytes: number;
  /** Absent if the place does not say. */
  readonly freeBytes?: number;
}

export interface StoreReport {
  /** One sentence for each damaged part. */
  readonly problems: readonly string[];
  readonly snapshots: number;
  readonly readBytes: number;
}

export interface SnapshotIdentity {
  /** The hash of everything in it. */
  readonly tree: string;
  readonly files: readonly StoredFileIdentity[];
}

export interface StoredFileIdentity {
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-256 of the IDs of its blocks, in hexadecimal. */
  readonly contentId: string;
}

export interface ReadingLock {
  /** Aborted when the lock is lost. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
}

/**
 * An open repository. Other services and programs may use it at the same time. All methods throw INSUFFICIENT_STORAGE,
 * BUSY with its `holder` in the details while another one excludes it, and BACKEND_FAILED.
 */
export abstract class BackupStore {
  /** All snapshots, the oldest first, also those of other programs. */
  abstract snapshots(): Promise<readonly StoredSnapshot[]>;
  /** @throws DomainError BUSY while another process excludes writers, before anything is read for a backup */
  abstract expectWritable(): Promise<void>;
  /** How much space the repository takes, and how much is left for it. Both in bytes. */
  abstract space(): Promise<StoreSpace>;
  /** The snapshot exists as a whole, or not at all. */
  abstract write(snapshot: NewSnapshot, fill: (files: SnapshotFiles) => Promise<void>): Promise<WrittenSnapshot>;
  /** @throws DomainError BACKUP_POINT_NOT_FOUND */
  abstract openFile(snapshot: string, path: string): Promise<StoredFile>;
  /** The hashes of a snapshot and of its files. @throws DomainError BACKUP_POINT_NOT_FOUND, BACKEND_FAILED */
  abstract identify(snapshot: string): Promise<SnapshotIdentity>;
  /** Keeps clean-ups away until it is released, for long reads. @throws DomainError BUSY */
  abstract lockForReading(): Promise<ReadingLock>;
  /** Those that are gone already are skipped. Their content stays until `prune`. */
  abstract forget(ids: readonly string[]): Promise<void>;
  /** Removes content that no snapshot needs. @returns the freed bytes */
  abstract prune(signal: AbortSignal): Promise<number>;
  /** @param options.readData reads everything and compares it with its hashes */
  abstract check(options: {
    readonly readData: boolean;
    readonly signal: AbortSignal;
    readonly report: (doneBytes: number, totalBytes: number) => void;
  }): Promise<StoreReport>;
}

/** Opens repositories. */
export abstract class BackupStores {
  /**
   * Whether a repository may be at this path.
   * @throws DomainError INVALID_INPUT with the reason
   */
  abstract expectAllowed(path: string): Promise<void>;

  /**
   * Opens the repository at the path, or creates one where there is none.
   * @throws DomainError INVALID_INPUT for a wrong password, or a path that is not allowed; BACKEND_FAILED
   */
  abstract prepare(target: BackupTarget): Promise<'created' | 'opened'>;

  /**
   * It may be opened for many requests: deriving its key is remembered for a while.
   * @throws DomainError BACKEND_FAILED, with the reason, when it is gone, can't be read, or has another password
   */
  abstract open(target: BackupTarget): Promise<BackupStore>;

  /** Forgets all that is remembered of a target that is removed. */
  abstract forget(id: string): void;
}
