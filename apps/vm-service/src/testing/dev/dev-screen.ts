import { Duplex } from 'node:stream';

const WIDTH = 720;
const HEIGHT = 400;
const FRAME_INTERVAL_MS = 250;

/** Lengths of the client messages of fixed size, by type. Source: RFC 6143, section 7.5 */
const MESSAGE_BYTES: Readonly<Record<number, number>> = { 0: 20, 3: 10, 4: 8, 5: 6 };
const SET_ENCODINGS = 2;
const UPDATE_REQUEST = 3;
const CUT_TEXT = 6;

type Step = 'version' | 'security' | 'init' | 'messages';

/** The screen of a simulated guest: an RFB 3.8 server that draws a moving bar and ignores all input. */
export class DevScreen extends Duplex {
  private step: Step = 'version';
  private received = Buffer.alloc(0);
  private frame = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor() {
    super();
    this.push('RFB 003.008\n');
  }

  override _read(): void {}

  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.received = Buffer.concat([this.received, data]);
    // As over a network: a write is never answered within its own call.
    process.nextTick(() => {
      while (!this.destroyed && this.advance());
      done();
    });
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.timer);
    done(error);
  }

  /** Handles the next message of the client. @returns false until it is complete */
  private advance(): boolean {
    switch (this.step) {
      case 'version':
        return this.consume(12) && this.reply(Buffer.from([1, 1]), 'security');
      case 'security':
        return this.consume(1) && this.reply(Buffer.alloc(4), 'init');
      case 'init':
        return this.consume(1) && this.reply(serverInit(), 'messages');
      case 'messages': {
        const type = this.received[0];
        if (type === undefined || !this.consume(this.messageBytes(type))) return false;
        if (type === UPDATE_REQUEST) this.scheduleFrame();
        return true;
      }
    }
  }

  private messageBytes(type: number): number {
    if (type === SET_ENCODINGS) return this.received.length < 4 ? Infinity : 4 + 4 * this.received.readUInt16BE(2);
    if (type === CUT_TEXT) return this.received.length < 8 ? Infinity : 8 + Math.abs(this.received.readInt32BE(4));
    return MESSAGE_BYTES[type] ?? this.received.length;
  }

  private consume(bytes: number): boolean {
    if (this.received.length < bytes) return false;
    this.received = this.received.subarray(bytes);
    return true;
  }

  private reply(data: Buffer, next: Step): true {
    this.push(data);
    this.step = next;
    return true;
  }

  private scheduleFrame(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.push(picture(this.frame++)), this.frame === 0 ? 0 : FRAME_INTERVAL_MS).unref();
  }
}

/** ServerInit with 32 bits per pixel, true color, little-endian. */
function serverInit(): Buffer {
  const name = Buffer.from('development guest');
  const init = Buffer.alloc(24);
  init.writeUInt16BE(WIDTH, 0);
  init.writeUInt16BE(HEIGHT, 2);
  Buffer.from([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]).copy(init, 4);
  init.writeUInt32BE(name.length, 20);
  return Buffer.concat([init, name]);
}

/** A FramebufferUpdate with one raw rectangle. */
function picture(frame: number): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt16BE(1, 2);
  header.writeUInt16BE(WIDTH, 8);
  header.writeUInt16BE(HEIGHT, 10);
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 4);
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const isBar = Math.abs(((x + frame * 12) % WIDTH) - y) < 12;
      pixels.writeUInt32LE(isBar ? 0x7db9f5 : ((20 + y / 10) << 16) | ((24 + x / 20) << 8) | 48, (y * WIDTH + x) * 4);
    }
  }
  return Buffer.concat([header, pixels]);
}
