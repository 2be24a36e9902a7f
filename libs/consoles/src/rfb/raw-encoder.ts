import type { Framebuffer } from './framebuffer.js';
import type { PixelWriter } from './pixel-writer.js';
import type { Rectangle } from './rectangle.js';

/** The pixels of an area as they are, in the client's format. Source: RFC 6143, section 7.7.1 */
export function rawPixels(screen: Framebuffer, area: Rectangle, writer: PixelWriter): Buffer {
  const out = Buffer.allocUnsafe(area.width * area.height * writer.size);
  let at = 0;
  for (let row = area.y; row < area.y + area.height; row++) {
    const from = row * screen.width + area.x;
    for (let index = from; index < from + area.width; index++) {
      at = writer.write(out, at, screen.pixels[index] ?? 0);
    }
  }
  return out;
}
