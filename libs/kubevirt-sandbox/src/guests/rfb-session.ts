import type { Rectangle } from './framebuffer.js';
import type { GuestScreen } from './guest-screen.js';
import { encodeHextile, encodeRaw, Encoding } from './rfb-encodings.js';
import { encodedPalette, readPixelFormat, SERVER_PIXEL_FORMAT, writePixelFormat } from './rfb-pixel-format.js';

const VERSION = 'RFB 003.008\n';
const SECURITY_NONE = 1;

/** Limit of the clipboard; the session ends rather than fill the memory. */
const MAX_MESSAGE_LENGTH = 1 << 20;

const ClientMessage = { setPixelFormat: 0, setEncodings: 2, updateRequest: 3, key: 4, pointer: 5, cutText: 6 } as const;

/** The receiver of a viewer's input. */
export interface RfbInput {
  key(keysym: number, down: boolean): void;
}

/**
 * The server's side of one RFB 3.8 session (RFC 6143) over any byte stream: raw and hextile, desktop size, no password.
 */
export class RfbSession {
  private received = Buffer.alloc(0);
  private step: () => boolean = () => this.readVersion();
  private palette = encodedPalette(SERVER_PIXEL_FORMAT);
  private encodings = new Set<number>();
  private dirty: Rectangle | undefined;
  private requested = false;
  private announced: { width: number; height: number };
  private readonly unsubscribe: () => void;

  constructor(
    private readonly screen: GuestScreen,
    private readonly input: RfbInput,
    private readonly send: (data: Buffer) => void,
    private readonly hangUp: () => void,
  ) {
    const { width, height } = screen.framebuffer;
    this.announced = { width, height };
    this.unsubscribe = screen.onChange((area) => this.changed(area));
    send(Buffer.from(VERSION, 'latin1'));
  }

  receive(data: Buffer): void {
    this.received = Buffer.concat([this.received, data]);
    while (this.step());
  }

  close(): void {
    this.unsubscribe();
    this.step = () => false;
  }

  private take(length: number): Buffer | undefined {
    if (this.received.length < length) return undefined;
    const bytes = this.received.subarray(0, length);
    this.received = this.received.subarray(length);
    return bytes;
  }

  private readVersion(): boolean {
    const version = this.take(VERSION.length);
    if (!version) return false;
    if (!version.toString('latin1').startsWith('RFB 003.')) return this.refuse();
    this.send(Buffer.from([1, SECURITY_NONE]));
    this.step = () => this.readSecurityType();
    return true;
  }

  private readSecurityType(): boolean {
    const type = this.take(1);
    if (!type) return false;
    if (type[0] !== SECURITY_NONE) return this.refuse();
    this.send(Buffer.alloc(4));
    this.step = () => this.readClientInit();
    return true;
  }

  private readClientInit(): boolean {
    if (!this.take(1)) return false;
    const name = Buffer.from('QEMU (simulated guest)');
    const init = Buffer.alloc(8);
    const { width, height } = this.screen.framebuffer;
    this.announced = { width, height };
    init.writeUInt16BE(width, 0);
    init.writeUInt16BE(height, 2);
    const nameLength = Buffer.alloc(4);
    nameLength.writeUInt32BE(name.length);
    this.send(Buffer.concat([init.subarray(0, 4), writePixelFormat(SERVER_PIXEL_FORMAT), nameLength, name]));
    this.step = () => this.readMessage();
    return true;
  }

  private readMessage(): boolean {
    const length = this.messageLength();
    if (length === undefined) return false;
    if (length < 0 || length > MAX_MESSAGE_LENGTH) return this.refuse();
    const message = this.take(length);
    if (!message) return false;
    this.handle(message);
    return true;
  }

  /** The length of the current message; undefined while it is still unknown, negative for an unknown message. */
  private messageLength(): number | undefined {
    const head = this.received;
    switch (head[0]) {
      case undefined:
        return undefined;
      case ClientMessage.setPixelFormat:
        return 20;
      case ClientMessage.setEncodings:
        return head.length < 4 ? undefined : 4 + head.readUInt16BE(2) * 4;
      case ClientMessage.updateRequest:
        return 10;
      case ClientMessage.key:
        return 8;
      case ClientMessage.pointer:
        return 6;
      case ClientMessage.cutText:
        return head.length < 8 ? undefined : 8 + head.readUInt32BE(4);
      default:
        return -1;
    }
  }

  private handle(message: Buffer): void {
    switch (message[0]) {
      case ClientMessage.setPixelFormat:
        this.palette = encodedPalette(readPixelFormat(message.subarray(4)));
        break;
      case ClientMessage.setEncodings:
        this.encodings = new Set(
          Array.from({ length: message.readUInt16BE(2) }, (_none, index) => message.readInt32BE(4 + index * 4)),
        );
        break;
      case ClientMessage.updateRequest:
        this.requested = true;
        if (message[1] === 0) this.changed({ x: 0, y: 0, ...this.announced });
        else this.flush();
        break;
      case ClientMessage.key:
        this.input.key(message.readUInt32BE(4), message[1] !== 0);
    }
  }

  private changed(area: Rectangle): void {
    this.dirty = this.dirty ? union(this.dirty, area) : area;
    this.flush();
  }

  private flush(): void {
    if (!this.requested || !this.dirty) return;
    const { framebuffer } = this.screen;
    const resized = framebuffer.width !== this.announced.width || framebuffer.height !== this.announced.height;
    const rectangles: Buffer[] = [];
    if (resized && this.encodings.has(Encoding.desktopSize)) {
      this.announced = { width: framebuffer.width, height: framebuffer.height };
      rectangles.push(rectangleHeader({ x: 0, y: 0, ...this.announced }, Encoding.desktopSize));
      this.dirty = { x: 0, y: 0, ...this.announced };
    }
    const area = clip(this.dirty, this.announced, framebuffer);
    if (area.width > 0 && area.height > 0) {
      const encoding = this.encodings.has(Encoding.hextile) ? Encoding.hextile : Encoding.raw;
      const encode = encoding === Encoding.hextile ? encodeHextile : encodeRaw;
      rectangles.push(rectangleHeader(area, encoding), encode(framebuffer, area, this.palette));
    }
    this.dirty = undefined;
    if (rectangles.length === 0) return;
    this.requested = false;
    const update = Buffer.from([0, 0, 0, rectangles.length > 2 ? 2 : 1]);
    this.send(Buffer.concat([update, ...rectangles]));
  }

  private refuse(): boolean {
    this.close();
    this.hangUp();
    return false;
  }
}

function rectangleHeader(area: Rectangle, encoding: number): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(area.x, 0);
  header.writeUInt16BE(area.y, 2);
  header.writeUInt16BE(area.width, 4);
  header.writeUInt16BE(area.height, 6);
  header.writeInt32BE(encoding, 8);
  return header;
}

function union(a: Rectangle, b: Rectangle): Rectangle {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  };
}

/** A client without support for a new size keeps showing the part that fits its old one. */
function clip(area: Rectangle, ...bounds: { width: number; height: number }[]): Rectangle {
  const right = Math.min(area.x + area.width, ...bounds.map(({ width }) => width));
  const bottom = Math.min(area.y + area.height, ...bounds.map(({ height }) => height));
  return { x: area.x, y: area.y, width: Math.max(0, right - area.x), height: Math.max(0, bottom - area.y) };
}
