import { DamagedError } from '../model/errors.js';
import type { Cipher } from '../crypto/cipher.js';
import { SEAL_BYTES } from '../crypto/cipher.js';
import { type BlobEntry, MAX_BLOB_BYTES } from './blobs.js';

/** The number at the end of a pack: bytes of its encrypted header. */
export const HEADER_LENGTH_BYTES = 4;
const PLAIN_ENTRY_BYTES = 37;
const COMPRESSED_ENTRY_BYTES = 41;

/** The end of a pack: its encrypted header and the length of it. */
export function sealHeader(entries: readonly BlobEntry[], cipher: Cipher): Buffer {
  const header = cipher.seal(Buffer.concat(entries.map(encodeEntry)));
  const length = Buffer.alloc(HEADER_LENGTH_BYTES);
  length.writeUInt32LE(header.length);
  return Buffer.concat([header, length]);
}

/** Bytes of the end of a pack with so many compressed blobs. */
export const sealedHeaderBytes = (entries: number): number =>
  entries * COMPRESSED_ENTRY_BYTES + SEAL_BYTES + HEADER_LENGTH_BYTES;

function encodeEntry({ id, type, length, uncompressedLength }: BlobEntry): Buffer {
  const kind = (type === 'data' ? 0 : 1) + (uncompressedLength === undefined ? 0 : 2);
  const entry = Buffer.alloc(kind < 2 ? PLAIN_ENTRY_BYTES : COMPRESSED_ENTRY_BYTES);
  entry.writeUInt8(kind);
  entry.writeUInt32LE(length, 1);
  if (uncompressedLength !== undefined) entry.writeUInt32LE(uncompressedLength, 5);
  entry.write(id, entry.length - 32, 'hex');
  return entry;
}

/** @param packBytes of the whole pack, against which the lengths are checked. @throws DamagedError */
export function openHeader(sealed: Uint8Array, packBytes: number, cipher: Cipher, subject: string): BlobEntry[] {
  const header = cipher.open(sealed, subject);
  const entries: BlobEntry[] = [];
  let offset = 0;
  for (let at = 0; at < header.length;) {
    const kind = header.readUInt8(at);
    const size = kind < 2 ? PLAIN_ENTRY_BYTES : COMPRESSED_ENTRY_BYTES;
    if (kind > 3 || at + size > header.length) throw new DamagedError(`${subject} has an invalid header.`, subject);
    const length = header.readUInt32LE(at + 1);
    const uncompressedLength = kind < 2 ? undefined : header.readUInt32LE(at + 5);
    const isTooLong = Math.max(length, uncompressedLength ?? 0) > MAX_BLOB_BYTES + SEAL_BYTES;
    if (length < SEAL_BYTES || isTooLong) throw new DamagedError(`${subject} has a blob of a wrong size.`, subject);
    const id = header.toString('hex', at + size - 32, at + size);
    entries.push({ id, type: kind % 2 === 0 ? 'data' : 'tree', offset, length, uncompressedLength });
    offset += length;
    at += size;
  }
  if (offset + sealed.length + HEADER_LENGTH_BYTES !== packBytes) {
    throw new DamagedError(`${subject} has ${packBytes} bytes, but its header describes other ones.`, subject);
  }
  return entries;
}
