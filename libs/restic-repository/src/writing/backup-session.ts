import type { BlobType } from '../format/blobs.js';
import { sha256 } from '../format/blobs.js';
import { throwIfAborted } from '../model/abort.js';
import type { BackupTotals } from '../model/types.js';
import type { BlobIndex } from '../store/blob-index.js';
import type { BlobWriter } from './blob-writer.js';

export interface StoredBlock {
  readonly id: string;
  readonly isNew: boolean;
  readonly storedBytes: number;
}

export interface SessionDeps {
  readonly blobs: BlobIndex;
  readonly writer: BlobWriter;
  /** Bytes of each pack that really exists. */
  readonly packs: ReadonlyMap<string, number>;
  readonly signal: AbortSignal;
  readonly onProgress: (totals: BackupTotals) => void;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What one backup stores, each blob once. */
export class BackupSession {
  readonly totals: Mutable<BackupTotals> = { files: 0, bytes: 0, readBytes: 0, newBytes: 0, storedBytes: 0 };
  private readonly added = { data: new Set<string>(), tree: new Set<string>() };

  constructor(private readonly deps: SessionDeps) {}

  get signal(): AbortSignal {
    return this.deps.signal;
  }

  /** Whether a blob need not be stored again. An index may list packs that are lost; those don't count. */
  has(type: BlobType, id: string): boolean {
    if (this.added[type].has(id)) return true;
    const { blobs, packs } = this.deps;
    return blobs.find(type, id).some(({ pack, offset, length }) => offset + length <= (packs.get(pack) ?? -1));
  }

  plainLengthOf(id: string): number | undefined {
    return this.deps.blobs.plainLengthOf('data', id);
  }

  async store(type: BlobType, plain: Uint8Array, id = sha256(plain)): Promise<StoredBlock> {
    throwIfAborted(this.signal);
    if (this.has(type, id)) return { id, isNew: false, storedBytes: 0 };
    this.added[type].add(id);
    const { storedBytes } = await this.deps.writer.add(type, id, plain);
    this.totals.newBytes += plain.length;
    this.totals.storedBytes += storedBytes;
    return { id, isNew: true, storedBytes };
  }

  noteBlock(length: number, wasRead: boolean): void {
    this.totals.bytes += length;
    if (wasRead) this.totals.readBytes += length;
    this.deps.onProgress({ ...this.totals });
  }
}
