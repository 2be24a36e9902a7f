import type { BlobEntry } from '../format/blobs.js';
import { HEADER_LENGTH_BYTES, openHeader } from '../format/pack-header.js';
import { DamagedError } from '../model/errors.js';
import type { SealedFiles } from './sealed-files.js';

const MAX_HEADER_BYTES = 64 << 20;

/**
 * The blobs of a pack as its own header describes them.
 * @throws DamagedError, FileNotFoundError
 */
export async function readPackHeader(files: SealedFiles, pack: string, packBytes: number): Promise<BlobEntry[]> {
  const subject = `data/${pack}`;
  const end = await files.target.read('data', pack, Math.max(0, packBytes - HEADER_LENGTH_BYTES), HEADER_LENGTH_BYTES);
  const length = end.length === HEADER_LENGTH_BYTES ? Buffer.from(end).readUInt32LE() : 0;
  if (length === 0 || length > Math.min(MAX_HEADER_BYTES, packBytes - HEADER_LENGTH_BYTES)) {
    throw new DamagedError(`${subject} is damaged: its header has an impossible length.`, subject);
  }
  const sealed = await files.target.read('data', pack, packBytes - HEADER_LENGTH_BYTES - length, length);
  return openHeader(sealed, packBytes, files.cipher, subject);
}

/** The same from the bytes of the whole pack. @throws DamagedError */
export function headerOf(files: SealedFiles, pack: string, bytes: Uint8Array): BlobEntry[] {
  const subject = `data/${pack}`;
  const body = bytes.length - HEADER_LENGTH_BYTES;
  const length = body < 0 ? 0 : Buffer.from(bytes.buffer, bytes.byteOffset + body, HEADER_LENGTH_BYTES).readUInt32LE();
  if (length === 0 || length > body) {
    throw new DamagedError(`${subject} is damaged: its header has an impossible length.`, subject);
  }
  return openHeader(bytes.subarray(body - length, body), bytes.length, files.cipher, subject);
}
