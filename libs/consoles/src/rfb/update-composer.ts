import { cursorRectangle, type CursorShape } from './cursor-shape.js';
import { DeflateStream } from './deflate-stream.js';
import { DirtyTiles } from './dirty-tiles.js';
import { Encoding, rectangleHeader, updateHeader } from './messages.js';
import { FRAMEBUFFER_FORMAT, type PixelFormat } from './pixel-format.js';
import { PixelWriter } from './pixel-writer.js';
import { rawPixels } from './raw-encoder.js';
import { bandsOf, clip, sameSize, type Rectangle, type Size } from './rectangle.js';
import type { SharedView } from './shared-view.js';
import { zrleTiles } from './zrle-encoder.js';

/** About how many pixels go into one update. */
const MOST_PIXELS = 2_097_152;
/** About how many pixels are encoded at a time, so that other work does not wait for long. */
const BAND = 131_072;
const TILE = 64;

/** Composes the updates of one viewer: the changes that it has not received, in its pixel format and encoding. */
export class UpdateComposer {
  private readonly dirty = new DirtyTiles();
  private deflate: DeflateStream | undefined;
  private writer = new PixelWriter(FRAMEBUFFER_FORMAT);
  private encodings: ReadonlySet<number> = new Set();
  /** The size that the viewer knows. */
  private shown: Size = { width: 0, height: 0 };
  private cursor: CursorShape | undefined;
  private hasAnnouncedQemuKeys = false;
  /** Incremented when the screen starts again: an update in progress belongs to the previous screen. */
  private generation = 0;

  constructor(private readonly view: SharedView) {}

  /** The viewer receives the size, and has seen nothing yet. */
  begin(): void {
    const { width, height } = this.view.screen;
    this.shown = { width, height };
    this.renew();
  }

  /** Marks the whole screen as not shown. */
  renew(): void {
    this.dirty.reset(this.view.screen);
    this.generation++;
  }

  damaged(area: Rectangle): void {
    this.dirty.add(area);
  }

  useFormat(format: PixelFormat): void {
    this.writer = new PixelWriter(format);
    // The pointer must be sent again in the new format.
    this.cursor = undefined;
  }

  useEncodings(numbers: readonly number[]): void {
    this.encodings = new Set(numbers);
  }

  /** The changes within an area as one message; undefined when there are none. One call at a time. */
  async next(area: Rectangle): Promise<Buffer | undefined> {
    const resized = this.resize();
    if (resized) return Buffer.concat([updateHeader(1), resized]);
    const { writer, generation } = this;
    const rectangles = this.otherChanges();
    for (const part of this.dirty.take(area, MOST_PIXELS)) {
      const visible = clip(part, this.shown);
      if (!visible) continue;
      for (const band of bandsOf(visible, BAND, TILE)) {
        if (this.generation !== generation) break;
        rectangles.push(await this.encode(band, writer));
      }
    }
    return rectangles.length > 0 ? Buffer.concat([updateHeader(rectangles.length), ...rectangles]) : undefined;
  }

  close(): void {
    this.deflate?.close();
  }

  /** A viewer that does not support another size keeps seeing the part that fits the old one. */
  private resize(): Buffer | undefined {
    const { screen } = this.view;
    if (sameSize(this.shown, screen) || !this.encodings.has(Encoding.desktopSize)) return undefined;
    this.begin();
    return rectangleHeader(screen.whole, Encoding.desktopSize);
  }

  private otherChanges(): Buffer[] {
    const { cursor, qemuKeys } = this.view;
    const changes: Buffer[] = [];
    if (cursor && cursor !== this.cursor && this.encodings.has(Encoding.cursor)) {
      this.cursor = cursor;
      changes.push(cursorRectangle(cursor, this.writer));
    }
    if (qemuKeys && !this.hasAnnouncedQemuKeys && this.encodings.has(Encoding.qemuKey)) {
      this.hasAnnouncedQemuKeys = true;
      changes.push(rectangleHeader({ x: 0, y: 0, width: 0, height: 0 }, Encoding.qemuKey));
    }
    return changes;
  }

  private async encode(area: Rectangle, writer: PixelWriter): Promise<Buffer> {
    const { screen } = this.view;
    if (!this.encodings.has(Encoding.zrle)) {
      return Buffer.concat([rectangleHeader(area, Encoding.raw), rawPixels(screen, area, writer)]);
    }
    this.deflate ??= new DeflateStream();
    const deflated = await this.deflate.compress(zrleTiles(screen, area, writer));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(deflated.length);
    return Buffer.concat([rectangleHeader(area, Encoding.zrle), length, deflated]);
  }
}
