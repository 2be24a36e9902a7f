import type { Framebuffer, Rectangle } from './framebuffer.js';

export const Encoding = { raw: 0, hextile: 5, desktopSize: -223 } as const;

const TILE = 16;
const Hextile = { background: 2, foreground: 4, anySubrects: 8, subrectsColored: 16, raw: 1 } as const;

/** The raw pixels of an area. */
export function encodeRaw(screen: Framebuffer, area: Rectangle, palette: readonly Buffer[]): Buffer {
  const size = palette[0]!.length;
  const out = Buffer.allocUnsafe(area.width * area.height * size);
  let at = 0;
  for (let y = area.y; y < area.y + area.height; y++) {
    for (let x = area.x; x < area.x + area.width; x++) {
      out.set(palette[screen.pixels[y * screen.width + x]!]!, at);
      at += size;
    }
  }
  return out;
}

/** Tiles of 16×16: a background and colored runs (RFC 6143, 7.7.4). Shrinks a screen of text about twentyfold. */
export function encodeHextile(screen: Framebuffer, area: Rectangle, palette: readonly Buffer[]): Buffer {
  const tiles: Buffer[] = [];
  for (let y = area.y; y < area.y + area.height; y += TILE) {
    for (let x = area.x; x < area.x + area.width; x += TILE) {
      const width = Math.min(TILE, area.x + area.width - x);
      const height = Math.min(TILE, area.y + area.height - y);
      tiles.push(encodeTile(screen, { x, y, width, height }, palette));
    }
  }
  return Buffer.concat(tiles);
}

function encodeTile(screen: Framebuffer, tile: Rectangle, palette: readonly Buffer[]): Buffer {
  const background = screen.pixels[tile.y * screen.width + tile.x]!;
  const runs = runsOf(screen, tile, background);
  if (runs.length === 0) return Buffer.concat([Buffer.from([Hextile.background]), palette[background]!]);

  const size = palette[0]!.length;
  if (runs.length > 255 || runs.length * (size + 2) > tile.width * tile.height * size) {
    return Buffer.concat([Buffer.from([Hextile.raw]), encodeRaw(screen, tile, palette)]);
  }
  const flags = Hextile.background | Hextile.anySubrects | Hextile.subrectsColored;
  const parts = [Buffer.from([flags]), palette[background]!, Buffer.from([runs.length])];
  for (const run of runs) {
    parts.push(palette[run.color]!, Buffer.from([(run.x << 4) | run.y, (run.length - 1) << 4]));
  }
  return Buffer.concat(parts);
}

interface Run {
  x: number;
  y: number;
  length: number;
  color: number;
}

/** Horizontal runs of one color that differ from the background, in the tile's own coordinates. */
function runsOf(screen: Framebuffer, tile: Rectangle, background: number): Run[] {
  const runs: Run[] = [];
  for (let y = 0; y < tile.height; y++) {
    const start = (tile.y + y) * screen.width + tile.x;
    let current: Run | undefined;
    for (let x = 0; x < tile.width; x++) {
      const color = screen.pixels[start + x]!;
      if (current?.color === color) current.length++;
      else if (color === background) current = undefined;
      else runs.push((current = { x, y, length: 1, color }));
    }
  }
  return runs;
}
