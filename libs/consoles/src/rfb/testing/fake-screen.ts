import { Duplex } from 'node:stream';
import { ByteParser, type Parsing } from '../byte-parser.js';
import { Framebuffer } from '../framebuffer.js';
import { Encoding, readEncodings, rectangleHeader, updateHeader } from '../messages.js';
import { FRAMEBUFFER_FORMAT, writePixelFormat } from '../pixel-format.js';
import type { Rectangle, Size } from '../rectangle.js';

export interface FakeScreenOptions {
  readonly size?: Size;
  readonly version?: string;
  readonly securityTypes?: readonly number[];
  /** Draws only when a test says so. */
  readonly silent?: boolean;
  /** What it says instead of being opened. */
  readonly refusal?: string;
}

/** A guest's RFB server. It draws for a test when an update is requested, and records its input. */
export class FakeScreen extends Duplex {
  readonly picture = new Framebuffer();
  /** Key, pointer and clipboard messages, as `key down 97`. */
  readonly acts: string[] = [];
  readonly requests: ('whole' | 'incremental')[] = [];
  encodings: number[] = [];
  private asked = false;
  private waiting: Buffer[] = [];
  private readonly parser: ByteParser;

  constructor(private readonly options: FakeScreenOptions = {}) {
    super();
    this.picture.resize(options.size ?? { width: 100, height: 80 });
    this.parser = new ByteParser(this.conversation());
  }

  override _read(): void {}
  override _write(data: Buffer, _encoding: string, done: () => void): void {
    // As over a network: a write is never answered within its own call.
    process.nextTick(() => {
      this.parser.push(data);
      done();
    });
  }

  /** Colors an area and shows it raw. */
  paint(area: Rectangle, color: number): void {
    this.picture.fill(area, color);
    this.showRaw(area);
  }

  showRaw(area: Rectangle): void {
    const pixels = Buffer.alloc(area.width * area.height * 4);
    for (let row = 0; row < area.height; row++) {
      for (let column = 0; column < area.width; column++) {
        const pixel = this.picture.pixels[(area.y + row) * this.picture.width + area.x + column] ?? 0;
        // The fourth byte means nothing; real servers leave anything there.
        pixels.writeUInt32LE(pixel | 0x5a000000, (row * area.width + column) * 4);
      }
    }
    this.show(rectangleHeader(area, Encoding.raw), pixels);
  }

  resize(size: Size): void {
    this.picture.resize(size);
    this.show(rectangleHeader(this.picture.whole, Encoding.desktopSize));
  }

  /** Sends one rectangle as an update, as soon as one is asked for. */
  show(...rectangle: Buffer[]): void {
    this.waiting.push(Buffer.concat([updateHeader(1), ...rectangle]));
    this.answer();
  }

  /** Sends a message that needs no asking. */
  say(data: Buffer): void {
    this.push(data);
  }

  private answer(): void {
    if (!this.asked || this.waiting.length === 0) return;
    this.asked = false;
    this.push(this.waiting.shift());
  }

  private *conversation(): Parsing {
    const { version = 'RFB 003.008\n', securityTypes = [1], refusal } = this.options;
    this.push(Buffer.from(version));
    yield 12;
    if (refusal !== undefined) return void this.push(Buffer.concat([Buffer.alloc(1), text(refusal)]));
    this.push(Buffer.from([securityTypes.length, ...securityTypes]));
    yield 1;
    if (version.includes('008')) this.push(Buffer.alloc(4));
    yield 1;
    const size = Buffer.alloc(4);
    size.writeUInt16BE(this.picture.width, 0);
    size.writeUInt16BE(this.picture.height, 2);
    this.push(Buffer.concat([size, writePixelFormat(FRAMEBUFFER_FORMAT), text('guest')]));
    for (;;) yield* this.message();
  }

  private *message(): Parsing {
    const type = (yield 1)[0];
    switch (type) {
      case 0:
        return void (yield 19);
      case 2:
        return void (this.encodings = readEncodings(yield (yield 3).readUInt16BE(1) * 4));
      case 3: {
        const incremental = (yield 9)[0] === 1;
        this.requests.push(incremental ? 'incremental' : 'whole');
        this.asked = true;
        if (!incremental) this.waiting = [];
        if (!incremental && !this.options.silent) this.showRaw(this.picture.whole);
        return this.answer();
      }
      case 4: {
        const bytes = yield 7;
        return void this.acts.push(`key ${bytes[0] ? 'down' : 'up'} ${bytes.readUInt32BE(3)}`);
      }
      case 5: {
        const bytes = yield 5;
        return void this.acts.push(`pointer ${bytes[0]} ${bytes.readUInt16BE(1)},${bytes.readUInt16BE(3)}`);
      }
      case 6:
        return void this.acts.push(`text ${(yield (yield 7).readUInt32BE(3)).toString('latin1')}`);
      case 255: {
        const bytes = yield 11;
        const [down, keysym, keycode] = [bytes.readUInt16BE(1), bytes.readUInt32BE(3), bytes.readUInt32BE(7)];
        return void this.acts.push(`key ${down ? 'down' : 'up'} ${keysym} at ${keycode}`);
      }
      default:
        throw new Error(`the screen was sent a message of type ${type}`);
    }
  }
}

function text(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([length, Buffer.from(value)]);
}
