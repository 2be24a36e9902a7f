/** A part of a screen, in pixels. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const sameSize = (a: Size, b: Size): boolean => a.width === b.width && a.height === b.height;

/** Cuts an area into pieces of at most `side` by `side` pixels, row by row, as RFB's tiled encodings do. */
export function* tilesOf({ x, y, width, height }: Rectangle, side: number): Generator<Rectangle> {
  for (let top = y; top < y + height; top += side) {
    for (let left = x; left < x + width; left += side) {
      yield { x: left, y: top, width: Math.min(side, x + width - left), height: Math.min(side, y + height - top) };
    }
  }
}

/** The smallest area that holds both. */
export function union(a: Rectangle, b: Rectangle): Rectangle {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  const right = Math.max(a.x + a.width, b.x + b.width);
  const bottom = Math.max(a.y + a.height, b.y + b.height);
  return { x, y, width: right - x, height: bottom - y };
}

/** The part of an area that lies on a screen of that size; undefined when none does. */
export function clip({ x, y, width, height }: Rectangle, screen: Size): Rectangle | undefined {
  const clipped = { x, y, width: Math.min(width, screen.width - x), height: Math.min(height, screen.height - y) };
  return clipped.width > 0 && clipped.height > 0 ? clipped : undefined;
}

/** Cuts an area into strips of about `pixels` pixels, at multiples of `side` rows. */
export function* bandsOf({ x, y, width, height }: Rectangle, pixels: number, side: number): Generator<Rectangle> {
  const step = Math.max(side, Math.floor(pixels / width / side) * side);
  for (let top = y; top < y + height; top += step) yield { x, y: top, width, height: Math.min(step, y + height - top) };
}
