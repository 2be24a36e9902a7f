import { zeroIdOf } from '../format/blobs.js';
import type { FileNode } from '../format/tree.js';
import { throwIfAborted } from '../model/abort.js';
import { DamagedError, InvalidInputError, MissingBlobError } from '../model/errors.js';
import type { FileBlock } from '../model/types.js';
import type { BlobIndex } from '../store/blob-index.js';
import type { BlobReader } from '../store/blob-reader.js';
import { BlobCache } from './blob-cache.js';
import { RepositoryFile } from './repository-file.js';

/** Blocks that are read and expanded while the caller works on one. */
const READ_AHEAD = 6;
const MAX_READ_BYTES = 64 << 20;

/** A file of a snapshot whose blobs are read on demand. */
export class StoredFile extends RepositoryFile {
  override readonly size: number;
  override readonly mtime: string;
  private readonly content: readonly string[];
  private readonly cache: BlobCache;

  private constructor(
    override readonly path: string,
    node: FileNode,
    /** Where each blob begins, and the end of the last one. */
    private readonly starts: Float64Array,
    reader: Pick<BlobReader, 'read'>,
    cacheBytes: number,
  ) {
    super();
    this.size = node.size;
    this.mtime = node.mtime;
    this.content = node.content;
    this.cache = new BlobCache(reader, cacheBytes);
  }

  /** @throws MissingBlobError, DamagedError */
  static open(
    path: string,
    node: FileNode,
    index: BlobIndex,
    reader: Pick<BlobReader, 'read'>,
    cacheBytes: number,
  ): StoredFile {
    const starts = new Float64Array(node.content.length + 1);
    for (const [at, id] of node.content.entries()) {
      const length = index.plainLengthOf('data', id);
      if (length === undefined) {
        throw new MissingBlobError(`${path} needs blob ${id}, which no index lists.`, `blob ${id}`);
      }
      starts[at + 1] = (starts[at] ?? 0) + length;
    }
    const total = starts[node.content.length] ?? 0;
    if (total !== node.size) {
      throw new DamagedError(`${path} should have ${node.size} bytes, but its blobs have ${total}.`, path);
    }
    return new StoredFile(path, node, starts, reader, cacheBytes);
  }

  override async read(offset: number, length: number): Promise<Uint8Array> {
    if (!Number.isSafeInteger(offset) || offset < 0) throw new InvalidInputError(`offset: ${offset} is no position.`);
    if (!Number.isSafeInteger(length) || length < 0 || length > MAX_READ_BYTES) {
      throw new InvalidInputError(`length: ${length} is not between 0 and ${MAX_READ_BYTES}.`);
    }
    const end = Math.min(this.size, offset + length);
    if (end <= offset) return new Uint8Array(0);
    const first = this.blockAt(offset);
    const last = this.blockAt(end - 1);
    const result = Buffer.alloc(end - offset);
    const wanted = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    for (const block of wanted.slice(1, READ_AHEAD)) this.prefetch(block);
    for (const block of wanted) {
      const start = this.startOf(block);
      if (this.isZero(block)) continue;
      const bytes = await this.cache.read(this.idOf(block));
      const from = Math.max(offset, start);
      bytes.copy(result, from - offset, from - start, Math.min(end, this.startOf(block + 1)) - start);
    }
    return result;
  }

  override async *blocks(signal?: AbortSignal): AsyncIterable<FileBlock> {
    for (let block = 0; block < this.content.length; block++) {
      throwIfAborted(signal);
      for (let ahead = block; ahead < Math.min(block + READ_AHEAD, this.content.length); ahead++) this.prefetch(ahead);
      const length = this.startOf(block + 1) - this.startOf(block);
      const isZero = this.isZero(block);
      const bytes = (): Promise<Uint8Array> =>
        isZero ? Promise.resolve(new Uint8Array(length)) : this.cache.read(this.idOf(block));
      yield { offset: this.startOf(block), length, isZero, bytes };
    }
  }

  private prefetch(block: number): void {
    // Its failure is reported when the block is read.
    if (!this.isZero(block)) void this.cache.read(this.idOf(block)).catch(() => undefined);
  }

  private isZero(block: number): boolean {
    return this.idOf(block) === zeroIdOf(this.startOf(block + 1) - this.startOf(block));
  }

  private idOf(block: number): string {
    return this.content[block] ?? '';
  }

  private startOf(block: number): number {
    return this.starts[block] ?? this.size;
  }

  /** The block with the byte at an offset. */
  private blockAt(offset: number): number {
    let low = 0;
    let high = this.content.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.startOf(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
