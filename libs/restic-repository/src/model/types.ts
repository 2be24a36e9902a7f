/** A part of a file. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** The time and timers of a repository; the `Clock` of the clock library fits. */
export interface RepositoryClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after `ms` milliseconds, unless the returned function is called before. */
  after(ms: number, callback: () => void): () => void;
}

export interface RepositoryOptions {
  readonly clock?: RepositoryClock;
  /** The name of this machine in locks, by which other processes on it recognize dead ones. The system's name. */
  readonly hostname?: string;
  /** Bytes of decrypted blobs that an open file keeps. 32 MiB, the least is one blob. */
  readonly cacheBytes?: number;
}

export interface CreateOptions extends RepositoryOptions {
  /**
   * The cost of guessing the password. The default takes about 0.1 s and 32 MiB; smaller values are for tests.
   * `n` is a power of two.
   */
  readonly scrypt?: { readonly n: number; readonly r: number; readonly p: number };
}

export interface Snapshot {
  readonly id: string;
  /** ISO 8601, with an offset or `Z`, as precise as the writer has stored it. */
  readonly time: string;
  /** The ID of the tree blob of its root. */
  readonly tree: string;
  readonly hostname: string;
  readonly username: string;
  /** The sources of the backup, for people and for groups of `restic forget`. The files may have other paths. */
  readonly paths: readonly string[];
  readonly tags: readonly string[];
  readonly parent?: string;
}

export interface BackupInput {
  readonly hostname: string;
  readonly username?: string;
  /** Absolute paths, which restic shows and groups by. */
  readonly paths: readonly string[];
  readonly tags: readonly string[];
  readonly time: Date;
  /** The snapshot that this one continues. Only information for restic. */
  readonly parent?: string;
}

export interface BackupOptions {
  readonly signal?: AbortSignal;
  /** Called after every stored block with the totals so far. */
  readonly onProgress?: (progress: BackupTotals) => void;
}

export interface BackupTotals {
  readonly files: number;
  /** Bytes of all files so far: read, reused from a parent, and zeros. */
  readonly bytes: number;
  /** Bytes that were read from the sources. */
  readonly readBytes: number;
  /** Bytes of blobs that the repository did not have, before compression. */
  readonly newBytes: number;
  /** Bytes that those need in the repository, compressed and encrypted. */
  readonly storedBytes: number;
}

export interface SnapshotReport extends BackupTotals {
  readonly id: string;
  readonly tree: string;
  readonly time: string;
}

export interface FileInput {
  /** Bytes. The file is cut into blocks of 1 MiB from its beginning. */
  readonly size: number;
  /** ISO 8601; the time of the snapshot if it is missing. */
  readonly mtime?: string;
  /** Exactly `length` bytes from `offset`. The writer does not change them, and they must not change later. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /**
   * The only parts that differ from `parent`, in any order. Blocks outside of them reuse the blobs of the parent
   * without being read. All blocks are read if this or `parent` is missing.
   */
  readonly changed?: readonly ByteRange[];
  /** A file in this repository with the same block size, whose content was complete when `changed` began. */
  readonly parent?: { readonly snapshotId: string; readonly path: string };
  /** Parts that read as zeros and are not read, such as holes of a sparse file. */
  readonly zeros?: readonly ByteRange[];
}

export interface FileReport {
  readonly path: string;
  readonly size: number;
  readonly blocks: number;
  readonly readBlocks: number;
  /** Blocks taken from the parent without reading. */
  readonly reusedBlocks: number;
  readonly zeroBlocks: number;
  readonly newBlocks: number;
  /** Bytes of the new blocks in the repository, compressed and encrypted. */
  readonly storedBytes: number;
  /** Hexadecimal SHA-256 of the list of the file's blobs: equal for equal content in the same repository. */
  readonly contentId: string;
}

/** Adds files to a new snapshot. Its calls may overlap; they take turns. */
export interface SnapshotWriter {
  /**
   * Adds a file in blocks of 1 MiB. Folders of the path are created.
   * @param path relative or absolute, `/` between its parts, without `.`, `..`, NUL and empty parts
   */
  file(path: string, input: FileInput): Promise<FileReport>;
  /** Adds a small file, such as a manifest. */
  data(path: string, bytes: Uint8Array): Promise<void>;
}

export interface FileEntry {
  /** Absolute in the snapshot, such as `/vm-1/disks/vda.raw`. */
  readonly path: string;
  readonly size: number;
  readonly mtime: string;
  /** As `FileReport.contentId`. */
  readonly contentId: string;
}

export interface FileBlock {
  readonly offset: number;
  readonly length: number;
  /** The block is known to be zeros; `bytes` is not needed to write it. */
  readonly isZero: boolean;
  /** Decrypted and verified. Throws `DamagedError` for this block only; the next ones can still be read. */
  bytes(): Promise<Uint8Array>;
}

export interface PruneOptions {
  readonly signal?: AbortSignal;
  /** Packs of which a larger part than this is unused are written again without it. 0.2; 0 repacks every such pack. */
  readonly repackAbove?: number;
  /** Only counts. */
  readonly dryRun?: boolean;
}

export interface PruneReport {
  readonly removedPacks: number;
  readonly repackedPacks: number;
  readonly keptPacks: number;
  /** Bytes by which the repository became smaller. */
  readonly freedBytes: number;
  /** Bytes of unused blobs that stay in packs below the threshold. */
  readonly unusedBytes: number;
  readonly removedIndexes: number;
}

export interface CheckOptions {
  /** Also reads every pack and verifies its hash, and the MAC and hash of each blob. */
  readonly readData: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface CheckProblem {
  readonly kind: 'key' | 'index' | 'pack' | 'blob' | 'tree' | 'snapshot';
  /** The full hexadecimal ID. */
  readonly id: string;
  readonly message: string;
}

export interface AffectedFile {
  readonly snapshotId: string;
  /** The path, or that of a folder that can't be read. */
  readonly path: string;
  /** Parts that can't be restored. Empty for a folder. */
  readonly ranges: readonly ByteRange[];
}

export interface CheckReport {
  /** No problem was found. Garbage is no problem. */
  readonly isIntact: boolean;
  readonly problems: readonly CheckProblem[];
  /** The files and folders that the problems affect; all others can be restored. */
  readonly affected: readonly AffectedFile[];
  readonly snapshots: number;
  readonly packs: number;
  readonly blobs: number;
  readonly readBytes: number;
  /** Packs that no index lists and blobs that no snapshot needs; `prune` removes them. */
  readonly garbage: { readonly packs: number; readonly blobs: number; readonly bytes: number };
}

/** Keeps `prune` away. */
export interface ReadingLock {
  /** Aborted when the lock is lost; from then on, forgotten snapshots may be pruned. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
}
