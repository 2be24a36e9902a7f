import type { FileBlock } from '../model/types.js';

/** A file of a snapshot, for random access. Its blobs are verified as they are read. */
export abstract class RepositoryFile {
  abstract readonly path: string;
  /** Bytes. */
  abstract readonly size: number;
  /** ISO 8601. */
  abstract readonly mtime: string;

  /**
   * `length` bytes from `offset`, fewer only at the end of the file. Blobs are kept in a small cache.
   * @throws DamagedError
   */
  abstract read(offset: number, length: number): Promise<Uint8Array>;

  /** All blocks in order, read ahead while the caller works on one. */
  abstract blocks(signal?: AbortSignal): AsyncIterable<FileBlock>;
}
