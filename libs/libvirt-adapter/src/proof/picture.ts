import { crc32, deflateSync } from 'node:zlib';
import { DomainError } from '@headgate/domain-contracts';

/** Of a screen of 4096 by 2304 pixels. */
export const MAX_SCREEN_BYTES = 4096 * 2304 * 3 + 64;
const MAX_SIDE = 8192;
const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const RGB = 2;

/** @param image the PNG or PPM of a screen @throws DomainError BACKEND_FAILED for anything else */
export function toPng(image: Buffer): Buffer {
  if (image.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return image;
  const [header, width, height] = /^P6\s+(\d{1,5})\s+(\d{1,5})\s+255\s/.exec(image.toString('latin1', 0, 64)) ?? [];
  const [columns, rows] = [Number(width), Number(height)];
  const size = columns * rows * 3;
  if (
    header === undefined ||
    size === 0 ||
    columns > MAX_SIDE ||
    rows > MAX_SIDE ||
    image.length < header.length + size
  )
    throw new DomainError('BACKEND_FAILED', 'libvirt has returned no picture of the screen.');
  return encode(image.subarray(header.length, header.length + size), columns, rows);
}

/** https://www.w3.org/TR/png-3/ */
function encode(pixels: Buffer, columns: number, rows: number): Buffer {
  const lines = Buffer.alloc(rows * (1 + columns * 3));
  for (let row = 0; row < rows; row++)
    pixels.copy(lines, row * (1 + columns * 3) + 1, row * columns * 3, (row + 1) * columns * 3);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(columns, 0);
  head.writeUInt32BE(rows, 4);
  head[8] = 8;
  head[9] = RGB;
  return Buffer.concat([PNG_SIGNATURE, chunk('IHDR', head), chunk('IDAT', deflateSync(lines)), chunk('IEND')]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(4 + body.length + 4);
  frame.writeUInt32BE(data.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), 4 + body.length);
  return frame;
}
