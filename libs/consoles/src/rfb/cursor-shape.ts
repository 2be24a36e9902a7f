import type { PixelWriter } from './pixel-writer.js';
import { Encoding, rectangleHeader } from './messages.js';

/** How the guest's pointer looks, where the guest does not draw it on the screen. Source: RFC 6143, section 7.8.1 */
export interface CursorShape {
  readonly width: number;
  readonly height: number;
  /** The point that points. */
  readonly x: number;
  readonly y: number;
  /** In the framebuffer's format. */
  readonly pixels: Buffer;
  /** A bit for each pixel that is seen; rows begin at bytes. */
  readonly mask: Buffer;
}

export const maskLength = (width: number, height: number): number => Math.ceil(width / 8) * height;

export function cursorRectangle(shape: CursorShape, writer: PixelWriter): Buffer {
  const pixels = Buffer.alloc(shape.width * shape.height * writer.size);
  let at = 0;
  for (let from = 0; from < shape.pixels.length; from += 4) {
    at = writer.write(pixels, at, shape.pixels.readUInt32LE(from));
  }
  return Buffer.concat([rectangleHeader(shape, Encoding.cursor), pixels, shape.mask]);
}
