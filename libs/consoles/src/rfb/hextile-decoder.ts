import type { Parsing } from './byte-parser.js';
import type { Framebuffer } from './framebuffer.js';
import { tilesOf, type Rectangle } from './rectangle.js';

const SIDE = 16;
const Flag = { raw: 1, background: 2, foreground: 4, subrectangles: 8, colored: 16 } as const;

/** Reads an area in tiles of 16×16 pixels, in the framebuffer's own format. Source: RFC 6143, section 7.7.4 */
export function* readHextile(screen: Framebuffer, area: Rectangle): Parsing {
  let background = 0;
  let foreground = 0;
  for (const tile of tilesOf(area, SIDE)) {
    const flags = (yield 1)[0] ?? 0;
    if (flags & Flag.raw) {
      screen.put(tile, yield tile.width * tile.height * 4);
      continue;
    }
    if (flags & Flag.background) background = (yield 4).readUInt32LE();
    if (flags & Flag.foreground) foreground = (yield 4).readUInt32LE();
    screen.fill(tile, background);
    if (!(flags & Flag.subrectangles)) continue;
    const count = (yield 1)[0] ?? 0;
    const colored = (flags & Flag.colored) !== 0;
    if (count === 0) continue;
    const list = yield count * (colored ? 6 : 2);
    for (let at = 0; at < list.length; at += 2) {
      if (colored) {
        foreground = list.readUInt32LE(at);
        at += 4;
      }
      screen.fill(partOf(tile, list[at] ?? 0, list[at + 1] ?? 0), foreground);
    }
  }
}

/** Position and size within a tile, four bits each; parts outside of the tile are cut. */
function partOf(tile: Rectangle, place: number, size: number): Rectangle {
  const x = Math.min(place >> 4, tile.width);
  const y = Math.min(place & 15, tile.height);
  return {
    x: tile.x + x,
    y: tile.y + y,
    width: Math.min((size >> 4) + 1, tile.width - x),
    height: Math.min((size & 15) + 1, tile.height - y),
  };
}
