import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { DamagedError } from '../model/errors.js';

const compressInPool = promisify(zstdCompress);
const decompressInPool = promisify(zstdDecompress);
const LEAST_CHUNK_BYTES = 64;

/** Compresses in a thread of libuv. */
export const compress = (bytes: Uint8Array, level: number): Promise<Buffer> =>
  compressInPool(bytes, {
    // One chunk is one job in the pool; smaller ones would go back and forth.
    chunkSize: bytes.length + (bytes.length >>> 8) + 1024,
    params: { [constants.ZSTD_c_compressionLevel]: level },
  });

/**
 * Decompresses in a thread of libuv, but never to more than `maxBytes`.
 * @throws DamagedError
 */
export async function decompress(
  bytes: Uint8Array,
  maxBytes: number,
  subject: string,
  chunkSize = maxBytes,
): Promise<Buffer> {
  try {
    return await decompressInPool(bytes, {
      chunkSize: Math.max(LEAST_CHUNK_BYTES, chunkSize),
      maxOutputLength: Math.max(1, maxBytes),
    });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const reason = isTooLarge ? `it expands to more than ${maxBytes} bytes` : 'it is no zstd frame';
    throw new DamagedError(`${subject} is damaged: ${reason}.`, subject);
  }
}
