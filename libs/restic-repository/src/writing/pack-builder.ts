import { createHash } from 'node:crypto';
import type { Cipher } from '../crypto/cipher.js';
import type { BlobEntry, BlobType } from '../format/blobs.js';
import type { PackEntries } from '../format/index-file.js';
import { sealedHeaderBytes, sealHeader } from '../format/pack-header.js';

/** restic 0.14 fills packs to the same size. */
const FULL_BYTES = 16 << 20;
/** restic refuses headers with more entries than fit into 16 MiB. */
const FULL_ENTRIES = 100_000;

export interface BuiltPack extends PackEntries {
  readonly bytes: Buffer;
}

/** Collects encrypted blobs of one type into a pack. */
export class PackBuilder {
  private readonly parts: Uint8Array[] = [];
  private readonly entries: BlobEntry[] = [];
  private readonly hash = createHash('sha256');
  private length = 0;

  constructor(private readonly type: BlobType) {}

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  get isFull(): boolean {
    return this.length + sealedHeaderBytes(this.entries.length) >= FULL_BYTES || this.entries.length >= FULL_ENTRIES;
  }

  add({ id, uncompressedLength }: Pick<BlobEntry, 'id' | 'uncompressedLength'>, sealed: Uint8Array): void {
    this.entries.push({ id, type: this.type, offset: this.length, length: sealed.length, uncompressedLength });
    this.parts.push(sealed);
    this.hash.update(sealed);
    this.length += sealed.length;
  }

  finish(cipher: Cipher): BuiltPack {
    const header = sealHeader(this.entries, cipher);
    const id = this.hash.update(header).digest('hex');
    return { id, blobs: this.entries, bytes: Buffer.concat([...this.parts, header]) };
  }
}
