import { zeroIdOf } from '../format/blobs.js';
import { abortable, throwIfAborted } from '../model/abort.js';
import { InvalidInputError } from '../model/errors.js';
import type { FileInput, FileReport } from '../model/types.js';
import type { BackupSession } from './backup-session.js';
import { BLOCK_BYTES, mergeRanges, RangeCursor } from './block-plan.js';

/** Blocks that are read, compressed and encrypted at the same time. */
const BLOCKS_AT_ONCE = 8;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

export type BlockCounts = Omit<FileReport, 'path' | 'size' | 'contentId'>;

/** Stores one file in blocks of the same size. */
export class BlockFile {
  private readonly content: string[];
  private readonly counts = { readBlocks: 0, reusedBlocks: 0, zeroBlocks: 0, newBlocks: 0, storedBytes: 0 };
  private readonly working = new Set<Promise<void>>();
  private readonly changed: RangeCursor;
  private readonly zeros: RangeCursor;
  private failure: { readonly error: unknown } | undefined;

  /** @param parent the blobs of the parent, if its unchanged blocks may be reused */
  constructor(
    private readonly session: BackupSession,
    private readonly input: FileInput,
    private readonly parent: readonly string[] | undefined,
  ) {
    if (!Number.isSafeInteger(input.size) || input.size < 0) {
      throw new InvalidInputError(`size: ${input.size} is no number of bytes.`);
    }
    this.content = new Array<string>(Math.ceil(input.size / BLOCK_BYTES));
    this.changed = new RangeCursor(mergeRanges(input.changed ?? [], 'changed'));
    this.zeros = new RangeCursor(mergeRanges(input.zeros ?? [], 'zeros'));
  }

  /** The IDs of the blobs. */
  async store(): Promise<{ readonly content: readonly string[]; readonly counts: BlockCounts }> {
    try {
      for (let block = 0; block < this.content.length && !this.failure; block++) {
        const offset = block * BLOCK_BYTES;
        const length = Math.min(BLOCK_BYTES, this.input.size - offset);
        if (await this.skip(block, offset, length)) continue;
        this.begin(block, offset, length);
        while (this.working.size >= BLOCKS_AT_ONCE) await Promise.race(this.working);
      }
    } finally {
      await Promise.all(this.working);
    }
    if (this.failure) throw this.failure.error;
    return { content: this.content, counts: { blocks: this.content.length, ...this.counts } };
  }

  /** Whether the block is known without reading it. */
  private async skip(block: number, offset: number, length: number): Promise<boolean> {
    throwIfAborted(this.session.signal);
    const reused = this.reusable(block, offset, length);
    if (reused !== undefined) {
      this.content[block] = reused;
      this.counts.reusedBlocks++;
    } else if (this.zeros.covers(offset, length)) {
      await this.storeZeros(block, length);
    } else return false;
    this.session.noteBlock(length, false);
    return true;
  }

  private reusable(block: number, offset: number, length: number): string | undefined {
    if (this.parent === undefined || this.changed.touches(offset, length)) return undefined;
    const id = this.parent[block];
    if (id === undefined || this.session.plainLengthOf(id) !== length || !this.session.has('data', id))
      return undefined;
    return id;
  }

  private begin(block: number, offset: number, length: number): void {
    const work = this.storeBlock(block, offset, length)
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => this.working.delete(work));
    this.working.add(work);
  }

  private async storeBlock(block: number, offset: number, length: number): Promise<void> {
    const bytes = await abortable(this.input.read(offset, length), this.session.signal);
    if (bytes.length !== length) {
      throw new InvalidInputError(`read: returned ${bytes.length} bytes at ${offset} instead of ${length}.`);
    }
    this.counts.readBlocks++;
    if (ZEROS.compare(bytes, 0, length, 0, length) === 0) await this.storeZeros(block, length);
    else {
      const { id, isNew, storedBytes } = await this.session.store('data', bytes);
      this.content[block] = id;
      if (isNew) this.countNew(storedBytes);
    }
    this.session.noteBlock(length, true);
  }

  private async storeZeros(block: number, length: number): Promise<void> {
    const { id, isNew, storedBytes } = await this.session.store('data', ZEROS.subarray(0, length), zeroIdOf(length));
    this.content[block] = id;
    this.counts.zeroBlocks++;
    if (isNew) this.countNew(storedBytes);
  }

  private countNew(storedBytes: number): void {
    this.counts.newBlocks++;
    this.counts.storedBytes += storedBytes;
  }
}
