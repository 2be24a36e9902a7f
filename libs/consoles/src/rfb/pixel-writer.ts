import type { PixelFormat } from './pixel-format.js';

/** Turns a pixel of the framebuffer into a client's, and writes it. */
export class PixelWriter {
  /** Bytes of a pixel, and of ZRLE's compressed one, which leaves out a byte that holds nothing. */
  readonly size: number;
  readonly compressedSize: number;
  private readonly red: Uint32Array;
  private readonly green: Uint32Array;
  private readonly blue: Uint32Array;
  /** Whether the compressed pixel leaves out the lowest byte. */
  private readonly dropLow: boolean;
  private readonly bigEndian: boolean;

  constructor(format: PixelFormat) {
    const { bitsPerPixel, depth, bigEndian, max, shift } = format;
    this.size = bitsPerPixel / 8;
    this.bigEndian = bigEndian;
    [this.red, this.green, this.blue] = [0, 1, 2].map((part) => scale(max[part] ?? 0, shift[part] ?? 0)) as Tables;
    const used = this.valueOf(0xffffff);
    const fitsLow = used <= 0xffffff;
    const fitsHigh = (used & 0xff) === 0;
    const short = bitsPerPixel === 32 && depth <= 24 && (fitsLow || fitsHigh);
    this.compressedSize = short ? 3 : this.size;
    this.dropLow = short && !fitsLow;
  }

  /** @returns the offset behind the pixel */
  write(out: Uint8Array, at: number, pixel: number): number {
    return this.writeBytes(out, at, this.valueOf(pixel), this.size);
  }

  /** @returns the offset behind the pixel */
  writeCompressed(out: Uint8Array, at: number, pixel: number): number {
    const value = this.valueOf(pixel);
    return this.writeBytes(out, at, this.dropLow ? value >>> 8 : value, this.compressedSize);
  }

  private valueOf(pixel: number): number {
    const red = this.red[(pixel >>> 16) & 0xff] ?? 0;
    const green = this.green[(pixel >>> 8) & 0xff] ?? 0;
    return (red | green | (this.blue[pixel & 0xff] ?? 0)) >>> 0;
  }

  private writeBytes(out: Uint8Array, at: number, value: number, size: number): number {
    if (this.bigEndian) for (let index = size - 1; index >= 0; index--, value >>>= 8) out[at + index] = value;
    else for (let index = 0; index < size; index++, value >>>= 8) out[at + index] = value;
    return at + size;
  }
}

type Tables = [Uint32Array, Uint32Array, Uint32Array];

/** Each of 256 intensities in the client's format, shifted to its position. */
const scale = (max: number, shift: number): Uint32Array =>
  Uint32Array.from({ length: 256 }, (_none, value) => Math.round((value * max) / 255) * 2 ** shift);
