import type { BlobEntry, BlobType } from '../format/blobs.js';
import { encodeIndex, type PackEntries } from '../format/index-file.js';
import { compress } from '../format/zstd.js';
import type { SealedFiles } from '../store/sealed-files.js';
import { PackBuilder } from './pack-builder.js';

/** Blobs in one index file; restic has the same limit. */
const INDEX_BLOBS = 50_000;
/** Packs that are being written while the next ones are built. */
const PENDING_PACKS = 2;
/** Fast enough not to be the slowest part, and within 10 % of the size of level 3 on system disks. */
const LEVEL = 1;

export interface StoredBlob {
  readonly storedBytes: number;
}

/** Compresses and encrypts blobs, collects them in packs, and writes packs and their index. */
export class BlobWriter {
  private readonly builders = { data: new PackBuilder('data'), tree: new PackBuilder('tree') };
  private readonly pending = new Set<Promise<void>>();
  private unindexed: PackEntries[] = [];
  private unindexedBlobs = 0;
  private failure: { readonly error: unknown } | undefined;

  /** @param options.writesIndex whether full index files are written on the way; otherwise the caller writes them */
  constructor(
    private readonly files: SealedFiles,
    private readonly options: { readonly writesIndex: boolean } = { writesIndex: true },
  ) {}

  /** Adds a blob that the repository does not have. Resolves when there is room for the next one. */
  async add(type: BlobType, id: string, plain: Uint8Array): Promise<StoredBlob> {
    const compressed = await compress(plain, LEVEL);
    const isSmaller = compressed.length < plain.length;
    const sealed = this.files.cipher.seal(isSmaller ? compressed : plain);
    await this.addSealed({ type, id, uncompressedLength: isSmaller ? plain.length : undefined }, sealed);
    return { storedBytes: sealed.length };
  }

  /** Adds a blob as it is in another pack of this repository. */
  async addSealed(blob: Pick<BlobEntry, 'type' | 'id' | 'uncompressedLength'>, sealed: Uint8Array): Promise<void> {
    // Before and not after it adds to a pack: callers overlap, and each of them could begin one more.
    while (this.pending.size >= PENDING_PACKS) await Promise.race(this.pending);
    this.throwFailure();
    const builder = this.builders[blob.type];
    builder.add(blob, sealed);
    if (!builder.isFull) return;
    this.flushPack(blob.type);
    if (this.options.writesIndex && this.unindexedBlobs >= INDEX_BLOBS) await this.writeIndex();
  }

  /** Adds packs to the next index file that are in the repository but in none of its index files. */
  adopt(packs: readonly PackEntries[]): void {
    for (const pack of packs) this.noteIndexed(pack);
  }

  /** Writes all packs and the index file. */
  async finish(): Promise<void> {
    await this.finishPacks();
    await this.writeIndex();
  }

  /** Writes all packs. Returns those that are in no index file yet, which becomes the caller's job. */
  async finishPacks(): Promise<readonly PackEntries[]> {
    this.flushPack('data');
    this.flushPack('tree');
    await this.settle();
    this.throwFailure();
    return this.unindexed;
  }

  /** Resolves when nothing is being written. */
  async settle(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  private flushPack(type: BlobType): void {
    const builder = this.builders[type];
    if (builder.isEmpty) return;
    this.builders[type] = new PackBuilder(type);
    const pack = builder.finish(this.files.cipher);
    const written = this.files.target
      .write('data', pack.id, pack.bytes)
      .then(() => this.noteIndexed(pack))
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => this.pending.delete(written));
    this.pending.add(written);
  }

  private noteIndexed({ id, blobs }: PackEntries): void {
    this.unindexed.push({ id, blobs });
    this.unindexedBlobs += blobs.length;
  }

  private async writeIndex(): Promise<void> {
    const packs = this.unindexed;
    if (packs.length === 0) return;
    this.unindexed = [];
    this.unindexedBlobs = 0;
    await this.files.save('index', encodeIndex(packs));
  }

  private throwFailure(): void {
    if (this.failure) throw this.failure.error;
  }
}
