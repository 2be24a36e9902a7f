import type { Size } from '../rfb/rectangle.js';

/** Pixels 0x..RRGGBB, row by row. */
export interface Picture extends Size {
  readonly pixels: Uint32Array;
}

/** A picture is never higher: a screen of 1 × 4096 pixels is not worth more. */
const MAX_HEIGHT = 640;
/** How many pixels are read before other work has its turn. */
const PIXELS_PER_TURN = 524_288;

/** Whether a picture of this size has to become smaller, and how large it is then. Never larger than before. */
function fitted({ width, height }: Size, maxWidth: number): Size {
  const scale = Math.min(1, maxWidth / width, MAX_HEIGHT / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** A smaller copy, each pixel the mean of those that it covers. @param maxWidth in pixels */
export async function smaller({ width, height, pixels: all }: Picture, maxWidth: number): Promise<Picture> {
  // The screen of a guest may get a new size, and with it new pixels, between two turns.
  const source = { width, height, pixels: all };
  const size = fitted(source, maxWidth);
  if (size.width === source.width && size.height === source.height) return { ...size, pixels: source.pixels.slice() };
  const pixels = new Uint32Array(size.width * size.height);
  let read = 0;
  for (let y = 0; y < size.height; y++) {
    const top = Math.floor((y * source.height) / size.height);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * source.height) / size.height));
    for (let x = 0; x < size.width; x++) {
      const left = Math.floor((x * source.width) / size.width);
      const right = Math.max(left + 1, Math.floor(((x + 1) * source.width) / size.width));
      pixels[y * size.width + x] = mean(source, { left, right, top, bottom });
    }
    read += (bottom - top) * source.width;
    if (read < PIXELS_PER_TURN) continue;
    read = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...size, pixels };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function mean({ pixels, width }: Picture, { left, right, top, bottom }: Box): number {
  let [red, green, blue] = [0, 0, 0];
  for (let y = top; y < bottom; y++) {
    for (let at = y * width + left; at < y * width + right; at++) {
      const pixel = pixels[at] ?? 0;
      red += (pixel >>> 16) & 0xff;
      green += (pixel >>> 8) & 0xff;
      blue += pixel & 0xff;
    }
  }
  const count = (right - left) * (bottom - top);
  return (Math.round(red / count) << 16) | (Math.round(green / count) << 8) | Math.round(blue / count);
}
