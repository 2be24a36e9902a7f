import { createHash } from 'node:crypto';

export type BlobType = 'data' | 'tree';

/** Where a blob is. */
export interface BlobEntry {
  readonly id: string;
  readonly type: BlobType;
  readonly offset: number;
  /** Bytes in the pack, compressed and encrypted. */
  readonly length: number;
  /** Bytes before compression; undefined if the blob is not compressed. */
  readonly uncompressedLength: number | undefined;
}

/** Blobs of files have at most 8 MiB. A tree has 67 bytes for each block of its files, and more for their names. */
export const MAX_BLOB_BYTES = 256 << 20;

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const zeroIds = new Map<number, string>();
const MOST_ZERO_IDS = 64;

/** The ID of a blob of zeros. */
export function zeroIdOf(length: number): string {
  const known = zeroIds.get(length);
  if (known !== undefined) return known;
  const id = sha256(Buffer.alloc(length));
  if (zeroIds.size >= MOST_ZERO_IDS) zeroIds.clear();
  zeroIds.set(length, id);
  return id;
}
