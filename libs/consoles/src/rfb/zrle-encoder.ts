import type { Framebuffer } from './framebuffer.js';
import type { PixelWriter } from './pixel-writer.js';
import { tilesOf, type Rectangle } from './rectangle.js';

const SIDE = 64;
const MOST_COLORS = 16;
const PLAIN_RLE = 128;

/**
 * The tiles of an area before they are deflated: one color, a small palette, runs or the plain pixels, whichever is
 * shortest. Source: RFC 6143, section 7.7.6
 */
export function zrleTiles(screen: Framebuffer, area: Rectangle, writer: PixelWriter): Buffer {
  const tiles = Math.ceil(area.width / SIDE) * Math.ceil(area.height / SIDE);
  const out = Buffer.allocUnsafe(area.width * area.height * writer.compressedSize + tiles);
  let at = 0;
  for (const tile of tilesOf(area, SIDE)) at = writeTile(screen, tile, writer, out, at);
  return out.subarray(0, at);
}

function writeTile(screen: Framebuffer, tile: Rectangle, writer: PixelWriter, out: Buffer, at: number): number {
  const { colors, runs, runBytes } = survey(screen, tile);
  const pixel = writer.compressedSize;
  const plain = tile.width * tile.height * pixel;
  const packed = colors ? colors.length * pixel + tile.height * Math.ceil((tile.width * bitsFor(colors)) / 8) : plain;
  const [only] = colors ?? [];
  if (colors?.length === 1 && only !== undefined) {
    out[at] = 1;
    return writer.writeCompressed(out, at + 1, only);
  }
  const asRuns = runs * pixel + runBytes;
  if (asRuns < packed && asRuns < plain) return writeRuns(screen, tile, writer, out, at);
  return colors && packed < plain
    ? writePacked(screen, tile, colors, writer, out, at)
    : writePlain(screen, tile, writer, out, at);
}

/** The colors and runs of a tile. `colors` is undefined when there are more than a palette holds. */
function survey({ pixels, width: stride }: Framebuffer, { x, y, width, height }: Rectangle) {
  const colors: number[] = [];
  let last = -1;
  let length = 0;
  let runs = 0;
  let runBytes = 0;
  for (let row = y; row < y + height; row++) {
    for (let at = row * stride + x, end = at + width; at < end; at++) {
      const pixel = (pixels[at] ?? 0) & 0xffffff;
      if (pixel === last) {
        length++;
        continue;
      }
      runBytes += Math.floor(length / 255);
      length = 0;
      runs++;
      last = pixel;
      if (colors.length <= MOST_COLORS && !colors.includes(pixel)) colors.push(pixel);
    }
  }
  runBytes += Math.floor(length / 255) + runs;
  return { colors: colors.length <= MOST_COLORS ? colors : undefined, runs, runBytes };
}

const bitsFor = ({ length }: readonly number[]): 1 | 2 | 4 => (length <= 2 ? 1 : length <= 4 ? 2 : 4);

function writePlain(screen: Framebuffer, tile: Rectangle, writer: PixelWriter, out: Buffer, at: number): number {
  out[at++] = 0;
  for (let row = tile.y; row < tile.y + tile.height; row++) {
    const from = row * screen.width + tile.x;
    for (let index = from; index < from + tile.width; index++) {
      at = writer.writeCompressed(out, at, screen.pixels[index] ?? 0);
    }
  }
  return at;
}

function writePacked(
  screen: Framebuffer,
  tile: Rectangle,
  colors: readonly number[],
  writer: PixelWriter,
  out: Buffer,
  at: number,
): number {
  const bits = bitsFor(colors);
  out[at++] = colors.length;
  for (const color of colors) at = writer.writeCompressed(out, at, color);
  for (let row = tile.y; row < tile.y + tile.height; row++) {
    const from = row * screen.width + tile.x;
    // Every row begins at a byte.
    let byte = 0;
    let free = 8;
    for (let index = from; index < from + tile.width; index++) {
      free -= bits;
      byte |= colors.indexOf((screen.pixels[index] ?? 0) & 0xffffff) << free;
      if (free > 0) continue;
      out[at++] = byte;
      byte = 0;
      free = 8;
    }
    if (free < 8) out[at++] = byte;
  }
  return at;
}

function writeRuns(screen: Framebuffer, tile: Rectangle, writer: PixelWriter, out: Buffer, at: number): number {
  out[at++] = PLAIN_RLE;
  let last = -1;
  let length = 0;
  const end = (): void => {
    if (last < 0) return;
    at = writer.writeCompressed(out, at, last);
    let rest = length - 1;
    for (; rest >= 255; rest -= 255) out[at++] = 255;
    out[at++] = rest;
  };
  for (let row = tile.y; row < tile.y + tile.height; row++) {
    const from = row * screen.width + tile.x;
    for (let index = from; index < from + tile.width; index++) {
      const pixel = (screen.pixels[index] ?? 0) & 0xffffff;
      if (pixel === last) {
        length++;
        continue;
      }
      end();
      last = pixel;
      length = 1;
    }
  }
  end();
  return at;
}
