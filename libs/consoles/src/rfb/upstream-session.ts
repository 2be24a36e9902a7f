import type { Duplex } from 'node:stream';
import { DomainError, messageOf } from '@headgate/domain-contracts';
import { ByteParser, skip, type Parsing } from './byte-parser.js';
import type { CursorShape } from './cursor-shape.js';
import type { Framebuffer } from './framebuffer.js';
import {
  keyEvent,
  qemuKeyEvent,
  SECURITY_NONE,
  ServerMessage,
  setEncodings,
  updateRequest,
  VERSION,
} from './messages.js';
import { FRAMEBUFFER_FORMAT, writePixelFormat } from './pixel-format.js';
import { sameSize, type Rectangle } from './rectangle.js';
import { READ_ENCODINGS, readRectangle, type Drawing } from './rectangle-reader.js';

/** A longer clipboard is skipped. */
const MAX_CLIPBOARD_BYTES = 1_048_576;
const MAX_NAME_BYTES = 65_536;

/** Receives the events of a guest's screen. */
export interface UpstreamListener {
  /** The framebuffer has a new size, and is blank. */
  resized(): void;
  damaged(area: Rectangle): void;
  /** An update is complete. */
  updated(): void;
  showCursor(shape: CursorShape): void;
  bell(): void;
  showClipboard(text: Buffer): void;
  /** The stream ended, or violated the protocol. */
  closed(): void;
}

/** The screen asks for something that can't be given for several viewers at the same time, such as a password. */
export class NotShareableError extends Error {}

/** The client's half of an RFB session: keeps a framebuffer as the guest's screen is. */
export class UpstreamSession implements Drawing {
  /** Rejected with NotShareableError, or with why the session can't be opened. */
  readonly opened: Promise<void>;
  /** Whether the guest takes key events with positions on the keyboard. */
  qemuKeys = false;
  private requested = false;
  /** A screen of a new size is asked for whole. */
  private blank = true;
  private hasOpened = false;
  private settle: { resolve(): void; reject(reason: Error): void } | undefined;
  private failure: Error | undefined;

  constructor(
    readonly stream: Duplex,
    private readonly screen: Framebuffer,
    private readonly listener: UpstreamListener,
  ) {
    this.opened = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    const parser = new ByteParser(this.conversation());
    stream.on('data', (data: Buffer) => this.receive(parser, data));
    stream.on('error', (error) => (this.failure ??= error));
    stream.once('end', () => stream.destroy());
    stream.once('close', () => this.closed());
  }

  /** Whether the handshake is complete and the stream is open. */
  get isOpen(): boolean {
    return this.hasOpened && !this.stream.destroyed;
  }

  /** Asks for what changes next, unless it is asked for already. */
  requestUpdate(): void {
    if (this.requested || !this.isOpen) return;
    this.requested = true;
    this.write(updateRequest(!this.blank, this.screen.whole));
    this.blank = false;
  }

  keyMessage(down: boolean, keysym: number, keycode?: number): Buffer {
    return keycode !== undefined && this.qemuKeys ? qemuKeyEvent(down, keysym, keycode) : keyEvent(down, keysym);
  }

  /** @param why the error for callers that wait until it is open */
  close(why?: Error): void {
    this.failure ??= why;
    this.stream.destroy();
  }

  resized(): void {
    this.blank = true;
    this.listener.resized();
  }

  damaged(area: Rectangle): void {
    this.listener.damaged(area);
  }

  showCursor(shape: CursorShape): void {
    this.listener.showCursor(shape);
  }

  offerQemuKeys(): void {
    this.qemuKeys = true;
  }

  private receive(parser: ByteParser, data: Buffer): void {
    try {
      parser.push(data);
    } catch (error) {
      this.close(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  private closed(): void {
    if (this.hasOpened) this.listener.closed();
    else this.settle?.reject(this.failure ?? unreachable('The screen ended before it showed anything.'));
  }

  private write(data: Buffer): void {
    if (!this.stream.destroyed && !this.stream.writableEnded) this.stream.write(data);
  }

  private *conversation(): Parsing {
    yield* this.handshake();
    const init = yield 24;
    yield* skip(lengthWithin(init.readUInt32BE(20), MAX_NAME_BYTES));
    const size = { width: init.readUInt16BE(0), height: init.readUInt16BE(2) };
    // After a reconnection, the old picture stays until the new one arrives.
    if (!sameSize(this.screen, size)) this.screen.resize(size);
    this.write(Buffer.concat([Buffer.alloc(4), writePixelFormat(FRAMEBUFFER_FORMAT)]));
    this.write(setEncodings(READ_ENCODINGS));
    this.hasOpened = true;
    this.resized();
    this.requestUpdate();
    this.settle?.resolve();
    for (;;) yield* this.message();
  }

  private *handshake(): Parsing {
    const version = (yield VERSION.length).toString('latin1');
    if (!/^RFB 003\.00[78]\n$/.test(version)) throw new NotShareableError(`version ${version.trim()}`);
    this.write(Buffer.from(version, 'latin1'));
    const count = (yield 1)[0] ?? 0;
    if (count === 0) throw yield* this.refusal();
    if (!(yield count).includes(SECURITY_NONE)) throw new NotShareableError('a password');
    this.write(Buffer.from([SECURITY_NONE]));
    if (version === VERSION && (yield 4).readUInt32BE() !== 0) throw yield* this.refusal();
    const shared = 1;
    this.write(Buffer.from([shared]));
  }

  private *refusal(): Parsing<Error> {
    const length = lengthWithin((yield 4).readUInt32BE(), MAX_NAME_BYTES);
    return unreachable(length > 0 ? (yield length).toString('utf8') : 'The screen was refused.');
  }

  private *message(): Parsing {
    const type = (yield 1)[0];
    switch (type) {
      case ServerMessage.update:
        return yield* this.update();
      case ServerMessage.colors:
        // Has no effect with true color.
        return yield* skip((yield 5).readUInt16BE(3) * 6);
      case ServerMessage.bell:
        return this.listener.bell();
      case ServerMessage.cutText: {
        const length = (yield 7).readUInt32BE(3);
        if (length > MAX_CLIPBOARD_BYTES) return yield* skip(length);
        return this.listener.showClipboard(length > 0 ? Buffer.from(yield length) : Buffer.alloc(0));
      }
      default:
        throw unreachable(`The screen sent a message of type ${type}, which was not requested.`);
    }
  }

  private *update(): Parsing {
    const count = (yield 3).readUInt16BE(1);
    for (let index = 0; index < count; index++) yield* readRectangle(this.screen, this);
    this.requested = false;
    this.listener.updated();
  }
}

function lengthWithin(length: number, most: number): number {
  if (length > most) throw unreachable('The screen sent too long a name.');
  return length;
}

const unreachable = (message: string): DomainError => new DomainError('BACKEND_UNREACHABLE', message);
