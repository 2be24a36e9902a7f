import { PALETTE } from './framebuffer.js';

/**
 * The pixel format of a client (RFC 6143, 7.4). Color maps are not supported: such a client gets the server's format.
 */
export interface RfbPixelFormat {
  bitsPerPixel: number;
  bigEndian: boolean;
  max: readonly [number, number, number];
  shift: readonly [number, number, number];
}

/** 32 bits per pixel, blue in the lowest byte: QEMU's format. */
export const SERVER_PIXEL_FORMAT: RfbPixelFormat = {
  bitsPerPixel: 32,
  bigEndian: false,
  max: [255, 255, 255],
  shift: [16, 8, 0],
};

export function writePixelFormat(format: RfbPixelFormat): Buffer {
  const buffer = Buffer.alloc(16);
  buffer.set([format.bitsPerPixel, 24, format.bigEndian ? 1 : 0, 1]);
  format.max.forEach((max, index) => buffer.writeUInt16BE(max, 4 + index * 2));
  buffer.set(format.shift, 10);
  return buffer;
}

export function readPixelFormat(buffer: Buffer): RfbPixelFormat {
  const bitsPerPixel = buffer[0]!;
  const trueColor = buffer[3]! !== 0;
  if (!trueColor || ![8, 16, 32].includes(bitsPerPixel)) return SERVER_PIXEL_FORMAT;
  return {
    bitsPerPixel,
    bigEndian: buffer[2]! !== 0,
    max: [buffer.readUInt16BE(4), buffer.readUInt16BE(6), buffer.readUInt16BE(8)],
    shift: [buffer[10]!, buffer[11]!, buffer[12]!],
  };
}

/** Every color of the palette, encoded once in the client's format. */
export function encodedPalette(format: RfbPixelFormat): readonly Buffer[] {
  return PALETTE.map((color) => {
    const value = color.reduce<number>(
      (pixel, part, index) => pixel + Math.round((part / 255) * format.max[index]!) * 2 ** format.shift[index]!,
      0,
    );
    const bytes = Buffer.alloc(4);
    if (format.bigEndian) bytes.writeUInt32BE(value);
    else bytes.writeUInt32LE(value);
    const size = format.bitsPerPixel / 8;
    return format.bigEndian ? bytes.subarray(4 - size) : bytes.subarray(0, size);
  });
}
