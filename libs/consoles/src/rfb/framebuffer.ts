import { DomainError } from '@headgate/domain-contracts';
import type { Rectangle, Size } from './rectangle.js';

/** 64 MiB at four bytes a pixel: two screens of 4K and to spare. */
const MOST_PIXELS = 16_777_216;

/** What a screen shows, four bytes a pixel: blue, green, red and one without meaning. */
export class Framebuffer implements Size {
  width = 0;
  height = 0;
  /** Little-endian words 0x..RRGGBB; this project's platforms are little-endian. */
  pixels = new Uint32Array(0);
  private bytes = Buffer.alloc(0);

  /** Starts again with a black screen. @throws DomainError NOT_SUPPORTED for a screen that is too large to be shared */
  resize({ width, height }: Size): void {
    if (width * height > MOST_PIXELS) {
      throw new DomainError('NOT_SUPPORTED', `A screen of ${width}×${height} pixels is too large to be shown here.`);
    }
    this.width = width;
    this.height = height;
    this.pixels = new Uint32Array(width * height);
    this.bytes = Buffer.from(this.pixels.buffer);
  }

  get whole(): Rectangle {
    return { x: 0, y: 0, width: this.width, height: this.height };
  }

  contains({ x, y, width, height }: Rectangle): boolean {
    return x + width <= this.width && y + height <= this.height;
  }

  fill({ x, y, width, height }: Rectangle, pixel: number): void {
    for (let row = y; row < y + height; row++) {
      const from = row * this.width + x;
      this.pixels.fill(pixel, from, from + width);
    }
  }

  /** Puts pixels in this framebuffer's own format, row by row. */
  put({ x, y, width, height }: Rectangle, pixels: Buffer): void {
    for (let row = 0; row < height; row++) {
      pixels.copy(this.bytes, ((y + row) * this.width + x) * 4, row * width * 4, (row + 1) * width * 4);
    }
  }

  /** Copies a part of the screen onto another, which may overlap it. */
  copy({ x, y, width, height }: Rectangle, from: { readonly x: number; readonly y: number }): void {
    const down = y > from.y;
    for (let index = 0; index < height; index++) {
      const row = down ? height - 1 - index : index;
      const source = (from.y + row) * this.width + from.x;
      this.pixels.copyWithin((y + row) * this.width + x, source, source + width);
    }
  }
}
