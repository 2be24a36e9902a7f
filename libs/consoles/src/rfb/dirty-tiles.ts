import type { Rectangle, Size } from './rectangle.js';

/** As ZRLE's tiles, so that nothing is cut twice. */
const SIDE = 64;

/**
 * Which parts of a screen a viewer has not been shown yet. Its size depends on the screen, never on how much happens.
 */
export class DirtyTiles {
  private columns = 0;
  private rows = 0;
  private tiles = new Uint8Array(0);
  private size: Size = { width: 0, height: 0 };
  private count = 0;

  /** Everything is to be shown, at this size. */
  reset(size: Size): void {
    this.size = { width: size.width, height: size.height };
    this.columns = Math.ceil(size.width / SIDE);
    this.rows = Math.ceil(size.height / SIDE);
    this.tiles = new Uint8Array(this.columns * this.rows).fill(1);
    this.count = this.tiles.length;
  }

  get empty(): boolean {
    return this.count === 0;
  }

  add(area: Rectangle): void {
    const { left, top, right, bottom } = this.spanOf(area);
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) this.mark(row * this.columns + column, 1);
    }
  }

  /**
   * Removes the dirty tiles of an area and returns them as few rectangles; tiles at its edge are returned whole.
   * @param most how many pixels to take, about; the rest stays
   */
  take(area: Rectangle, most: number): Rectangle[] {
    const { left, top, right, bottom } = this.spanOf(area);
    const taken: Rectangle[] = [];
    let pixels = 0;
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) {
        if (!this.isDirty(row, column)) continue;
        if (pixels >= most) return taken;
        const rectangle = this.takeFrom(row, column, right, bottom);
        pixels += rectangle.width * rectangle.height;
        taken.push(rectangle);
      }
    }
    return taken;
  }

  /** The largest rectangle to the right, then downwards, of dirty tiles. */
  private takeFrom(row: number, column: number, right: number, bottom: number): Rectangle {
    let endColumn = column + 1;
    while (endColumn < right && this.isDirty(row, endColumn)) endColumn++;
    let endRow = row + 1;
    while (endRow < bottom && this.isRowDirty(endRow, column, endColumn)) endRow++;
    for (let y = row; y < endRow; y++) {
      for (let x = column; x < endColumn; x++) this.mark(y * this.columns + x, 0);
    }
    const x = column * SIDE;
    const y = row * SIDE;
    return {
      x,
      y,
      width: Math.min(endColumn * SIDE, this.size.width) - x,
      height: Math.min(endRow * SIDE, this.size.height) - y,
    };
  }

  private isDirty(row: number, column: number): boolean {
    return this.tiles[row * this.columns + column] === 1;
  }

  private isRowDirty(row: number, from: number, to: number): boolean {
    for (let column = from; column < to; column++) if (!this.isDirty(row, column)) return false;
    return true;
  }

  private mark(index: number, dirty: 0 | 1): void {
    this.count += dirty - (this.tiles[index] ?? 0);
    this.tiles[index] = dirty;
  }

  /** The tiles that an area touches; `right` and `bottom` are outside of it. */
  private spanOf({ x, y, width, height }: Rectangle) {
    return {
      left: Math.floor(x / SIDE),
      top: Math.floor(y / SIDE),
      right: width === 0 ? 0 : Math.min(this.columns, Math.ceil((x + width) / SIDE)),
      bottom: height === 0 ? 0 : Math.min(this.rows, Math.ceil((y + height) / SIDE)),
    };
  }
}
