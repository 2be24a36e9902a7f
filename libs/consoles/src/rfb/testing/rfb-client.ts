import { constants, inflateSync } from 'node:zlib';
import type { Viewer } from '../../viewer.js';
import { ByteParser, type Parsing } from '../byte-parser.js';
import { setEncodings, updateRequest } from '../messages.js';
import { FRAMEBUFFER_FORMAT, writePixelFormat, type PixelFormat } from '../pixel-format.js';
import type { Rectangle, Size } from '../rectangle.js';

export interface RfbClientOptions {
  readonly format?: PixelFormat;
  readonly encodings?: readonly number[];
  readonly version?: string;
  readonly viewOnly?: boolean;
  /** Asks for the next update after each; default true. */
  readonly asks?: boolean;
}

/** A viewer with its own decoder, independent of the encoders under test. */
export class RfbClient implements Viewer {
  readonly viewOnly: boolean;
  buffered = 0;
  closed: { code: number; reason: string } | undefined;
  size: Size = { width: 0, height: 0 };
  /** Red, green and blue of each pixel in the client's own range, ten bits each. */
  pixels = new Uint32Array(0);
  updates = 0;
  received = 0;
  bells = 0;
  readonly clipboards: string[] = [];
  cursor: { size: string; pixels: number[]; mask: Buffer } | undefined;
  knowsQemuKeys = false;
  readonly seenEncodings = new Set<number>();
  isPaused = false;
  /** Takes nothing off the wire while true. */
  stuck = false;
  private readonly format: PixelFormat;
  private readonly parser: ByteParser;
  private deflated = Buffer.alloc(0);
  private inflated = 0;
  private pending: { data: Buffer; left: () => void }[] = [];
  private inputs: ((data: Buffer) => void)[] = [];
  private closes: (() => void)[] = [];
  private watchers: (() => void)[] = [];

  constructor(private readonly options: RfbClientOptions = {}) {
    this.viewOnly = options.viewOnly ?? false;
    this.format = options.format ?? FRAMEBUFFER_FORMAT;
    this.parser = new ByteParser(this.conversation());
  }

  send(data: Buffer, left: () => void): void {
    this.buffered += data.length;
    this.pending.push({ data, left });
    if (!this.stuck) setImmediate(() => this.take());
  }
  onInput(listener: (data: Buffer) => void): void {
    this.inputs.push(listener);
  }
  onClose(listener: () => void): void {
    if (this.closed) listener();
    else this.closes.push(listener);
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  close(code: number, reason: string): void {
    if (this.closed) return;
    this.closed = { code, reason };
    for (const listener of this.closes) listener();
    this.changed();
  }

  /** Says something to the server. */
  say(...messages: Buffer[]): void {
    for (const listener of this.inputs) listener(Buffer.concat(messages));
  }

  ask(incremental: boolean, area: Rectangle = { x: 0, y: 0, ...this.size }): void {
    this.say(updateRequest(incremental, area));
  }

  unstick(): void {
    this.stuck = false;
    this.take();
  }

  /** Waits for what the server's next bytes bring. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return;
        this.watchers = this.watchers.filter((other) => other !== check);
        resolve();
      };
      this.watchers.push(check);
      check();
    });
  }

  at(x: number, y: number): number | undefined {
    return this.pixels[y * this.size.width + x];
  }

  private take(): void {
    for (const { data, left } of this.pending.splice(0)) {
      this.buffered -= data.length;
      this.received += data.length;
      this.parser.push(data);
      left();
    }
    this.changed();
  }

  private changed(): void {
    for (const check of this.watchers) check();
  }

  private *conversation(): Parsing {
    yield 12;
    const { version = 'RFB 003.008\n', encodings = [16, 0, -223], asks = true } = this.options;
    this.say(Buffer.from(version));
    yield (yield 1)[0] ?? 0;
    this.say(Buffer.from([1]));
    if (version.includes('008')) yield 4;
    this.say(Buffer.from([0]));
    const init = yield 24;
    yield init.readUInt32BE(20);
    this.resize({ width: init.readUInt16BE(0), height: init.readUInt16BE(2) });
    this.say(Buffer.alloc(4), writePixelFormat(this.format), setEncodings(encodings));
    if (asks) this.ask(false);
    for (;;) yield* this.message();
  }

  private *message(): Parsing {
    const type = (yield 1)[0];
    if (type === 2) return void this.bells++;
    if (type === 3) {
      const length = (yield 7).readUInt32BE(3);
      return void this.clipboards.push(length > 0 ? (yield length).toString('latin1') : '');
    }
    if (type !== 0) throw new Error(`message of type ${type}`);
    const count = (yield 3).readUInt16BE(1);
    for (let index = 0; index < count; index++) yield* this.rectangle();
    this.updates++;
    if (this.options.asks ?? true) this.ask(true);
  }

  private *rectangle(): Parsing {
    const head = yield 12;
    const [x = 0, y = 0, width = 0, height = 0] = [0, 2, 4, 6].map((at) => head.readUInt16BE(at));
    const encoding = head.readInt32BE(8);
    this.seenEncodings.add(encoding);
    const bytes = this.format.bitsPerPixel / 8;
    if (encoding === -223) return this.resize({ width, height });
    if (encoding === -258) return void (this.knowsQemuKeys = true);
    if (encoding === -239) {
      const pixels = this.pixelsOf(yield width * height * bytes, bytes);
      const mask = Buffer.from(yield Math.ceil(width / 8) * height);
      return void (this.cursor = { size: `${width}x${height}+${x}+${y}`, pixels, mask });
    }
    if (x + width > this.size.width || y + height > this.size.height) throw new Error('drawn outside of the screen');
    if (encoding === 0) return this.put({ x, y, width, height }, this.pixelsOf(yield width * height * bytes, bytes));
    if (encoding !== 16) throw new Error(`encoding ${encoding}`);
    this.deflated = Buffer.concat([this.deflated, yield (yield 4).readUInt32BE()]);
    const all = inflateSync(this.deflated, { finishFlush: constants.Z_SYNC_FLUSH });
    const tiles = all.subarray(this.inflated);
    this.inflated = all.length;
    this.putTiles({ x, y, width, height }, tiles);
  }

  private resize(size: Size): void {
    this.size = size;
    this.pixels = new Uint32Array(size.width * size.height).fill(UNSEEN);
  }

  private put({ x, y, width }: Rectangle, colors: number[]): void {
    colors.forEach((color, index) => {
      this.pixels[(y + Math.floor(index / width)) * this.size.width + x + (index % width)] = color;
    });
  }

  private pixelsOf(data: Buffer, bytes: number): number[] {
    return Array.from({ length: data.length / bytes }, (_none, index) => this.colorAt(data, index * bytes, bytes));
  }

  private colorAt(data: Buffer, at: number, bytes: number): number {
    const { bigEndian, max, shift } = this.format;
    const value = bigEndian ? data.readUIntBE(at, bytes) : data.readUIntLE(at, bytes);
    // A compressed pixel that lacks its lowest byte.
    const missing = bytes === 3 && Math.max(...shift) === 24 ? 8 : 0;
    return packed((part) => (value >>> ((shift[part] ?? 0) - missing)) & (max[part] ?? 0));
  }

  private putTiles(area: Rectangle, data: Buffer): void {
    let at = 0;
    const take = (length: number): Buffer => data.subarray(at, (at += length));
    const { bitsPerPixel, depth, max, shift } = this.format;
    const bits = max.map((part, index) => part * 2 ** (shift[index] ?? 0));
    const short =
      bitsPerPixel === 32 && depth <= 24 && (Math.max(...bits) <= 0xffffff || shift.every((places) => places >= 8));
    const size = short ? 3 : bitsPerPixel / 8;
    for (let y = area.y; y < area.y + area.height; y += 64) {
      for (let x = area.x; x < area.x + area.width; x += 64) {
        const width = Math.min(64, area.x + area.width - x);
        const height = Math.min(64, area.y + area.height - y);
        this.put({ x, y, width, height }, this.tile(width, height, take, size));
      }
    }
    if (at !== data.length) throw new Error(`${data.length - at} bytes too many`);
  }

  private tile(width: number, height: number, take: (length: number) => Buffer, size: number): number[] {
    const kind = take(1)[0] ?? 0;
    const color = (): number => this.colorAt(take(size), 0, size);
    if (kind === 0) return Array.from({ length: width * height }, color);
    if (kind === 1) return Array<number>(width * height).fill(color());
    if (kind <= 16) {
      const palette = Array.from({ length: kind }, color);
      const bits = kind === 2 ? 1 : kind <= 4 ? 2 : 4;
      return Array.from({ length: height }, () => {
        const row = take(Math.ceil((width * bits) / 8));
        return Array.from({ length: width }, (_none, x) => {
          const byte = row[Math.floor((x * bits) / 8)] ?? 0;
          return palette[(byte >> (8 - bits - ((x * bits) % 8))) & (2 ** bits - 1)] ?? UNSEEN;
        });
      }).flat();
    }
    if (kind !== 128) throw new Error(`tile of kind ${kind}`);
    const colors: number[] = [];
    while (colors.length < width * height) {
      const next = color();
      let length = 1;
      for (let byte = 255; byte === 255; length += byte) byte = take(1)[0] ?? 0;
      for (; length > 0; length--) colors.push(next);
    }
    return colors;
  }
}

/** No color of any format. */
const UNSEEN = 0xffffffff;

const packed = (partOf: (part: 0 | 1 | 2) => number): number => (partOf(0) << 20) | (partOf(1) << 10) | partOf(2);

/** What a client of that format is to see of a framebuffer. */
export function colorsIn(format: PixelFormat, pixels: Uint32Array): Uint32Array {
  return pixels.map((pixel) =>
    packed((part) => Math.round((((pixel >>> (16 - 8 * part)) & 255) * (format.max[part] ?? 0)) / 255)),
  );
}
