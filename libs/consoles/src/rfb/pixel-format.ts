import { DomainError } from '@headgate/domain-contracts';

/** How a client wants its pixels. Source: RFC 6143, section 7.4 */
export interface PixelFormat {
  readonly bitsPerPixel: 8 | 16 | 32;
  readonly depth: number;
  readonly bigEndian: boolean;
  /** Of red, green, blue. */
  readonly max: readonly [number, number, number];
  readonly shift: readonly [number, number, number];
}

/** The framebuffer's own: blue in the lowest byte, as QEMU offers. */
export const FRAMEBUFFER_FORMAT: PixelFormat = {
  bitsPerPixel: 32,
  depth: 24,
  bigEndian: false,
  max: [255, 255, 255],
  shift: [16, 8, 0],
};

export function writePixelFormat({ bitsPerPixel, depth, bigEndian, max, shift }: PixelFormat): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.set([bitsPerPixel, depth, bigEndian ? 1 : 0, 1]);
  max.forEach((value, index) => bytes.writeUInt16BE(value, 4 + index * 2));
  bytes.set(shift, 10);
  return bytes;
}

/** @throws DomainError INVALID_INPUT for a format without true colors, or one that fits no pixel */
export function readPixelFormat(bytes: Buffer): PixelFormat {
  const [bitsPerPixel = 0, depth = 0, bigEndian, trueColor] = bytes;
  const max = [4, 6, 8].map((at) => bytes.readUInt16BE(at)) as [number, number, number];
  const shift = [10, 11, 12].map((at) => bytes[at] ?? 0) as [number, number, number];
  const fits = max.every((value, index) => value * 2 ** (shift[index] ?? 0) < 2 ** bitsPerPixel);
  if (!trueColor || !isPixelSize(bitsPerPixel) || !fits) {
    throw new DomainError('INVALID_INPUT', 'This console supports only true color with 8, 16 or 32 bits.');
  }
  return { bitsPerPixel, depth, bigEndian: bigEndian !== 0, max, shift };
}

const isPixelSize = (bits: number): bits is 8 | 16 | 32 => bits === 8 || bits === 16 || bits === 32;
