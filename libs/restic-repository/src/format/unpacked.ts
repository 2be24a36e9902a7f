import { DamagedError } from '../model/errors.js';
import { parseJson } from './json.js';
import { compress, decompress } from './zstd.js';

const ZSTD = 2;
/** Indexes of restic have some MiB. */
const MAX_JSON_BYTES = 256 << 20;
const CHUNK_BYTES = 1 << 20;
const LEVEL = 3;

/** The plain content of index, snapshot and lock files: an encoding byte and compressed JSON. */
export async function encodeUnpacked(value: unknown): Promise<Buffer> {
  return Buffer.concat([Buffer.from([ZSTD]), await compress(Buffer.from(JSON.stringify(value)), LEVEL)]);
}

/** @throws DamagedError */
export async function decodeUnpacked(plain: Uint8Array, subject: string): Promise<unknown> {
  const encoding = plain[0];
  if (encoding === 0x5b || encoding === 0x7b) return parseJson(plain, subject);
  if (encoding !== ZSTD) throw new DamagedError(`${subject} has an unknown encoding.`, subject);
  return parseJson(await decompress(plain.subarray(1), MAX_JSON_BYTES, subject, CHUNK_BYTES), subject);
}
