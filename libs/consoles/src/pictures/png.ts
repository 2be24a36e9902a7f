import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { Picture } from './picture.js';

const compress = promisify(deflate);

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const RGB = 2;
/** Each row as its difference from the row above: most rows of a screen resemble it. */
const FILTER_UP = 2;

/** Encodes a picture as a PNG with 8 bits for each of red, green and blue. Source: PNG (third edition), W3C */
export async function encodePng({ width, height, pixels }: Picture): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, RGB, 0, 0, 0], 8);
  const body = (await compress(filteredRows({ width, height, pixels }))) as Buffer;
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))]);
}

function filteredRows({ width, height, pixels }: Picture): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3));
  let at = 0;
  for (let y = 0; y < height; y++) {
    rows[at++] = FILTER_UP;
    for (let x = 0; x < width; x++) {
      const pixel = pixels[y * width + x] ?? 0;
      const above = y > 0 ? (pixels[(y - 1) * width + x] ?? 0) : 0;
      for (const shift of [16, 8, 0]) rows[at++] = ((pixel >>> shift) - (above >>> shift)) & 0xff;
    }
  }
  return rows;
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}
