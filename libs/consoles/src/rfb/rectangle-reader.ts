import { DomainError } from '@headgate/domain-contracts';
import type { Parsing } from './byte-parser.js';
import { maskLength, type CursorShape } from './cursor-shape.js';
import type { Framebuffer } from './framebuffer.js';
import { readHextile } from './hextile-decoder.js';
import { Encoding } from './messages.js';
import type { Rectangle } from './rectangle.js';

const MAX_CURSOR_SIDE = 512;
/** Raw pixels are read in pieces of about this size. */
const PIECE_BYTES = 65_536;

/** The encodings that are read, the best first. */
export const READ_ENCODINGS = [
  Encoding.hextile,
  Encoding.copyRect,
  Encoding.raw,
  Encoding.desktopSize,
  Encoding.cursor,
  Encoding.qemuKey,
];

/** Receives the content of rectangles. */
export interface Drawing {
  /** The framebuffer has a new size, and is blank. */
  resized(): void;
  damaged(area: Rectangle): void;
  showCursor(shape: CursorShape): void;
  /** The guest takes key events with positions on the keyboard. */
  offerQemuKeys(): void;
}

/** Reads one rectangle of an update into a framebuffer. @throws DomainError for a rectangle that was not requested */
export function* readRectangle(screen: Framebuffer, drawing: Drawing): Parsing {
  const head = yield 12;
  const [x = 0, y = 0, width = 0, height = 0] = [0, 2, 4, 6].map((at) => head.readUInt16BE(at));
  const area = { x, y, width, height };
  const encoding = head.readInt32BE(8);
  if (encoding === Encoding.desktopSize) {
    screen.resize(area);
    return drawing.resized();
  }
  if (encoding === Encoding.qemuKey) return drawing.offerQemuKeys();
  if (encoding === Encoding.cursor) return drawing.showCursor(yield* readCursor(area));
  if (!screen.contains(area)) throw invalidScreen('drew outside of itself');
  if (encoding === Encoding.raw) yield* readRaw(screen, area);
  else if (encoding === Encoding.hextile) yield* readHextile(screen, area);
  else if (encoding === Encoding.copyRect) copyWithin(screen, area, yield 4);
  else throw invalidScreen(`drew in encoding ${encoding}, which was not requested`);
  drawing.damaged(area);
}

function* readRaw(screen: Framebuffer, { x, y, width, height }: Rectangle): Parsing {
  const atOnce = Math.max(1, Math.floor(PIECE_BYTES / (width * 4)));
  for (let row = 0; row < height && width > 0; row += atOnce) {
    const piece = { x, y: y + row, width, height: Math.min(atOnce, height - row) };
    screen.put(piece, yield width * piece.height * 4);
  }
}

function copyWithin(screen: Framebuffer, area: Rectangle, source: Buffer): void {
  const from = { x: source.readUInt16BE(0), y: source.readUInt16BE(2) };
  if (!screen.contains({ ...area, ...from })) throw invalidScreen('copied from outside of itself');
  screen.copy(area, from);
}

function* readCursor({ x, y, width, height }: Rectangle): Parsing<CursorShape> {
  if (Math.max(width, height) > MAX_CURSOR_SIDE) throw invalidScreen('has too large a pointer');
  const pixels = Buffer.from(width * height > 0 ? yield width * height * 4 : []);
  const mask = Buffer.from(width * height > 0 ? yield maskLength(width, height) : []);
  return { x, y, width, height, pixels, mask };
}

const invalidScreen = (what: string): DomainError => new DomainError('BACKEND_UNREACHABLE', `The screen ${what}.`);
