import { FRAMEBUFFER_FORMAT, type PixelFormat } from '../pixel-format.js';

/** Pixel formats that viewers ask for. */
export const FORMATS: readonly (readonly [string, PixelFormat])[] = [
  ["the screen's own format", FRAMEBUFFER_FORMAT],
  ["noVNC's format", { ...FRAMEBUFFER_FORMAT, shift: [0, 8, 16] }],
  ['32 bits, big-endian', { ...FRAMEBUFFER_FORMAT, bigEndian: true }],
  ['32 bits, the upper three bytes', { ...FRAMEBUFFER_FORMAT, shift: [24, 16, 8] }],
  ['32 bits, the upper three bytes, big-endian', { ...FRAMEBUFFER_FORMAT, shift: [8, 16, 24], bigEndian: true }],
  ['32 bits, spread', { ...FRAMEBUFFER_FORMAT, depth: 30, max: [1023, 1023, 1023], shift: [20, 10, 0] }],
  ['16 bits', { bitsPerPixel: 16, depth: 16, bigEndian: false, max: [31, 63, 31], shift: [11, 5, 0] }],
  ['15 bits, big-endian', { bitsPerPixel: 16, depth: 15, bigEndian: true, max: [31, 31, 31], shift: [10, 5, 0] }],
  ['8 bits', { bitsPerPixel: 8, depth: 8, bigEndian: false, max: [7, 7, 3], shift: [0, 3, 6] }],
];
