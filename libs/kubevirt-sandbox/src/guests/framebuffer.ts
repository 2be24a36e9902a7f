import { GLYPH_HEIGHT, GLYPH_WIDTH, glyphRows } from './screen-font.js';

/** A rectangle in pixels. */
export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The colors of a simulated screen as red, green, blue; a pixel is an index into this table. */
export const PALETTE = [
  [0, 0, 0],
  [16, 24, 40],
  [38, 94, 160],
  [232, 236, 242],
  [120, 200, 130],
  [240, 190, 70],
  [150, 160, 175],
  [200, 70, 70],
] as const;

export const Color = { black: 0, night: 1, blue: 2, white: 3, green: 4, amber: 5, gray: 6, red: 7 } as const;

/** One byte per pixel, so that fifty open screens stay small. */
export class Framebuffer {
  pixels: Uint8Array;

  constructor(
    public width: number,
    public height: number,
  ) {
    this.pixels = new Uint8Array(width * height);
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.pixels = new Uint8Array(width * height);
  }

  fill({ x, y, width, height }: Rectangle, color: number): void {
    const right = Math.min(x + width, this.width);
    for (let row = y; row < Math.min(y + height, this.height); row++) {
      this.pixels.fill(color, row * this.width + x, row * this.width + right);
    }
  }

  /** Draws text with its upper left corner at x, y; every pixel of a glyph becomes a square of `scale` pixels. */
  text(x: number, y: number, text: string, color: number, scale = 2): void {
    [...text].forEach((character, index) =>
      this.glyph(x + index * (GLYPH_WIDTH + 1) * scale, y, character, color, scale),
    );
  }

  private glyph(x: number, y: number, character: string, color: number, scale: number): void {
    const rows = glyphRows(character);
    for (let row = 0; row < GLYPH_HEIGHT; row++) {
      for (let column = 0; column < GLYPH_WIDTH; column++) {
        if ((rows[row]! >> (GLYPH_WIDTH - 1 - column)) & 1) {
          this.fill({ x: x + column * scale, y: y + row * scale, width: scale, height: scale }, color);
        }
      }
    }
  }
}
