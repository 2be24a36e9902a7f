import { DomainError } from '@headgate/domain-contracts';
import { skip, type Parsing } from './byte-parser.js';
import { ClientMessage, readEncodings, SECURITY_NONE, VERSION } from './messages.js';
import { readPixelFormat, type PixelFormat } from './pixel-format.js';
import type { Rectangle } from './rectangle.js';

/** A longer clipboard is skipped. */
const MAX_CLIPBOARD_BYTES = 1_048_576;

/** Receives the requests and the input of a viewer. */
export interface ViewerMessages {
  send(data: Buffer): void;
  /** The handshake is complete: the viewer expects the description of the screen. */
  joined(): void;
  pixelFormat(format: PixelFormat): void;
  encodings(numbers: number[]): void;
  updateRequest(incremental: boolean, area: Rectangle): void;
  key(down: boolean, keysym: number, keycode?: number): void;
  pointer(buttons: number, x: number, y: number): void;
  cutText(text: Buffer): void;
}

/**
 * Reads the client's side of an RFB session, in versions 3.7 and 3.8, without a password: the caller has authenticated
 * the viewer.
 * @throws DomainError INVALID_INPUT for a message that was not offered
 */
export function* readViewer(viewer: ViewerMessages): Parsing {
  viewer.send(Buffer.from(VERSION, 'latin1'));
  const version = (yield VERSION.length).toString('latin1');
  if (!/^RFB 003\.00[78]\n$/.test(version)) throw unsupported('a protocol older than RFB 3.7');
  viewer.send(Buffer.from([1, SECURITY_NONE]));
  const security = (yield 1)[0];
  if (security !== SECURITY_NONE) throw unsupported(`security type ${security}`);
  if (version === VERSION) viewer.send(Buffer.alloc(4));
  // The shared flag: a viewer may not ask to be the only one.
  yield 1;
  viewer.joined();
  for (;;) yield* readMessage(viewer);
}

function* readMessage(viewer: ViewerMessages): Parsing {
  const type = (yield 1)[0];
  switch (type) {
    case ClientMessage.setPixelFormat:
      return viewer.pixelFormat(readPixelFormat((yield 19).subarray(3)));
    case ClientMessage.setEncodings: {
      const count = (yield 3).readUInt16BE(1);
      return viewer.encodings(count > 0 ? readEncodings(yield count * 4) : []);
    }
    case ClientMessage.updateRequest: {
      const bytes = yield 9;
      const [x = 0, y = 0, width = 0, height = 0] = [1, 3, 5, 7].map((at) => bytes.readUInt16BE(at));
      return viewer.updateRequest(bytes[0] !== 0, { x, y, width, height });
    }
    case ClientMessage.key: {
      const bytes = yield 7;
      return viewer.key(bytes[0] !== 0, bytes.readUInt32BE(3));
    }
    case ClientMessage.pointer: {
      const bytes = yield 5;
      return viewer.pointer(bytes[0] ?? 0, bytes.readUInt16BE(1), bytes.readUInt16BE(3));
    }
    case ClientMessage.cutText: {
      const length = (yield 7).readUInt32BE(3);
      if (length > MAX_CLIPBOARD_BYTES) return yield* skip(length);
      return viewer.cutText(length > 0 ? Buffer.from(yield length) : Buffer.alloc(0));
    }
    case ClientMessage.qemu: {
      const bytes = yield 11;
      if (bytes[0] !== 0) throw unsupported(`QEMU message ${bytes[0]}`);
      return viewer.key(bytes.readUInt16BE(1) !== 0, bytes.readUInt32BE(3), bytes.readUInt32BE(7));
    }
    default:
      throw unsupported(`message type ${type}`);
  }
}

const unsupported = (what: string): DomainError =>
  new DomainError('INVALID_INPUT', `This console can't be shared with a client that uses ${what}.`);
