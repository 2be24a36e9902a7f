/** The kinds of files in a repository, named like their folders in restic's default layout. */
export const FILE_TYPES = ['config', 'keys', 'locks', 'snapshots', 'index', 'data'] as const;
export type FileType = (typeof FILE_TYPES)[number];

export interface ListedFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
}

/**
 * The place where the files of a repository are kept. A file is written once, becomes visible as a whole, and is never
 * changed; the repository relies on this.
 *
 * Names are 64 lower-case hexadecimal digits, except that the only file of type `config` is named `config`.
 */
export abstract class RepositoryTarget {
  /** Creates the folders of an empty repository. Existing ones stay as they are. */
  abstract prepare(): Promise<void>;

  /** The files of a type, in no particular order. Files that are still being written are not among them. */
  abstract list(type: FileType): Promise<ListedFile[]>;

  /**
   * The bytes of a file, or `length` of them from `offset`; fewer if the file ends before.
   * @throws FileNotFoundError
   */
  abstract read(type: FileType, name: string, offset?: number, length?: number): Promise<Uint8Array>;

  /**
   * Stores a file durably: after it resolves, the file survives a power cut. If it rejects or the process ends, the
   * file does not exist.
   * @throws FileExistsError instead of overwriting a file
   */
  abstract write(type: FileType, name: string, bytes: Uint8Array): Promise<void>;

  /** @throws FileNotFoundError */
  abstract remove(type: FileType, name: string): Promise<void>;

  /**
   * Bytes of a file.
   * @throws FileNotFoundError
   */
  abstract size(type: FileType, name: string): Promise<number>;

  /** Removes the rests of writes that were interrupted. Called when no other process writes. */
  abstract clean(): Promise<void>;
}
