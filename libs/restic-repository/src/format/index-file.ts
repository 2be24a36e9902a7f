import { SEAL_BYTES } from '../crypto/cipher.js';
import { DamagedError } from '../model/errors.js';
import { type BlobEntry, MAX_BLOB_BYTES } from './blobs.js';
import { arrayOf, fieldsOf, idOf, numberOf } from './json.js';

/** A pack and its blobs. */
export interface PackEntries {
  readonly id: string;
  readonly blobs: readonly BlobEntry[];
}

const MAX_OFFSET = 0xffff_ffff;

export function encodeIndex(packs: readonly PackEntries[]): unknown {
  return {
    packs: packs.map(({ id, blobs }) => ({
      id,
      blobs: blobs.map((blob) => ({
        id: blob.id,
        type: blob.type,
        offset: blob.offset,
        length: blob.length,
        // JSON leaves undefined fields out.
        uncompressed_length: blob.uncompressedLength,
      })),
    })),
  };
}

/** @throws DamagedError */
export function decodeIndex(value: unknown, subject: string): PackEntries[] {
  return arrayOf(fieldsOf(value, subject), 'packs', subject).map((pack) => {
    const fields = fieldsOf(pack, subject);
    const blobs = arrayOf(fields, 'blobs', subject).map((blob) => decodeBlob(blob, subject));
    return { id: idOf(fields, 'id', subject), blobs };
  });
}

function decodeBlob(value: unknown, subject: string): BlobEntry {
  const fields = fieldsOf(value, subject);
  const { type } = fields;
  if (type !== 'data' && type !== 'tree') throw new DamagedError(`${subject} has a blob of unknown type.`, subject);
  const offset = numberOf(fields, 'offset', subject);
  const length = numberOf(fields, 'length', subject);
  const plain = fields['uncompressed_length'] === undefined ? 0 : numberOf(fields, 'uncompressed_length', subject);
  const isPossible =
    length >= SEAL_BYTES && Math.max(length - SEAL_BYTES, plain) <= MAX_BLOB_BYTES && offset + length <= MAX_OFFSET;
  if (!isPossible) throw new DamagedError(`${subject} has a blob of an impossible size.`, subject);
  // restic writes 0 for blobs that are not compressed, or leaves the field out.
  return { id: idOf(fields, 'id', subject), type, offset, length, uncompressedLength: plain === 0 ? undefined : plain };
}
