import { crc32, deflateSync } from 'node:zlib';
import { type Framebuffer, PALETTE } from './framebuffer.js';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BIT_DEPTH = 8;
const INDEXED_COLOR = 3;

/** The screen as a PNG file (indexed colors, RFC 2083). */
export function pngImage(screen: Framebuffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(screen.width, 0);
  header.writeUInt32BE(screen.height, 4);
  header.set([BIT_DEPTH, INDEXED_COLOR, 0, 0, 0], 8);

  const scanlines = Buffer.alloc((screen.width + 1) * screen.height); // each line begins with its filter, 0 = none
  for (let y = 0; y < screen.height; y++) {
    scanlines.set(screen.pixels.subarray(y * screen.width, (y + 1) * screen.width), y * (screen.width + 1) + 1);
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(PALETTE.flat())),
    chunk('IDAT', deflateSync(scanlines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
