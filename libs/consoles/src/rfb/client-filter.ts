import { DomainError } from '@headgate/domain-contracts';
import { ByteQueue } from './byte-queue.js';

/**
 * Reads the messages of an RFB client and decides which of them are forwarded.
 * Source: RFC 6143, section 7; message types beyond it: https://www.iana.org/assignments/rfb/rfb.xhtml
 */

/** Types of the messages that only say how the client wants to see the screen. */
const DISPLAY = { setPixelFormat: 0, setEncodings: 2, updateRequest: 3, continuousUpdates: 150, fence: 248 } as const;
/**
 * Types of the messages that act on the guest: keys, pointer, clipboard, desktop size, power (xvp), QEMU's key events.
 */
const INPUT = { key: 4, pointer: 5, cutText: 6, xvp: 250, desktopSize: 251, qemu: 255 } as const;
const DISPLAY_TYPES: ReadonlySet<number> = new Set(Object.values(DISPLAY));

const SECURITY_NONE = 1;
const SECURITY_VNC = 2;

/** A clipboard may be large; no other message is. */
const MAX_MESSAGE_BYTES = 16_777_216;
/** The longest part of a message that its length depends on. */
const MAX_HEAD_BYTES = 9;

type Stage = 'version' | 'security' | 'password' | 'init' | 'messages';

/**
 * Forwards an RFB client's bytes, with two changes. It removes the client's request to be the only viewer, so that
 * opening a screen never closes another viewer's session. And it drops everything by which a view-only client would act
 * on the guest.
 */
export class RfbClientFilter {
  private stage: Stage = 'version';
  private readonly queue = new ByteQueue();
  /** Bytes of a dropped message that have not arrived yet. */
  private bytesToDrop = 0;

  constructor(private readonly viewOnly: boolean) {}

  /**
   * @returns the bytes to forward
   * @throws DomainError INVALID_INPUT when the client uses a message of unknown length, so that nothing gets past the
   *   filter
   */
  pass(data: Buffer): Buffer {
    if (this.stage === 'messages' && !this.viewOnly) return data;
    this.queue.push(data);
    const forwarded: Buffer[] = [];
    while (this.queue.length > 0) {
      if (this.stage === 'messages' && !this.viewOnly) {
        forwarded.push(this.queue.take(this.queue.length));
        break;
      }
      if (this.bytesToDrop > 0) {
        this.bytesToDrop -= this.queue.skip(this.bytesToDrop);
        continue;
      }
      const length = this.nextLength();
      if (length === undefined) break;
      if (this.isDropped()) {
        this.bytesToDrop = length;
        continue;
      }
      if (this.queue.length < length) break;
      forwarded.push(this.accept(this.queue.take(length)));
    }
    return forwarded.length === 1 && forwarded[0] ? forwarded[0] : Buffer.concat(forwarded);
  }

  /** Undefined while the next message's length is not known. */
  private nextLength(): number | undefined {
    if (this.stage === 'version') return 12;
    if (this.stage === 'password') return 16;
    if (this.stage !== 'messages') return 1;
    const length = messageLength(this.queue.peek(MAX_HEAD_BYTES));
    if (length !== undefined && length > MAX_MESSAGE_BYTES) throw unsupported('messages that are too long');
    return length;
  }

  private isDropped(): boolean {
    return this.stage === 'messages' && !DISPLAY_TYPES.has(this.queue.peek(1)[0] ?? 0);
  }

  private accept(message: Buffer): Buffer {
    const type = message[0] ?? 0;
    switch (this.stage) {
      case 'version':
        if (!/^RFB 003\.00[78]\n$/.test(message.toString('latin1'))) throw unsupported('a protocol older than RFB 3.7');
        this.stage = 'security';
        return message;
      case 'security':
        if (type !== SECURITY_NONE && type !== SECURITY_VNC) throw unsupported(`security type ${type}`);
        this.stage = type === SECURITY_VNC ? 'password' : 'init';
        return message;
      case 'password':
        this.stage = 'init';
        return message;
      case 'init':
        this.stage = 'messages';
        // The shared flag.
        return Buffer.from([1]);
      case 'messages':
        return message;
    }
  }
}

function messageLength(head: Buffer): number | undefined {
  const has = (count: number): boolean => head.length >= count;
  switch (head[0]) {
    case DISPLAY.setPixelFormat:
      return 20;
    case DISPLAY.setEncodings:
      return has(4) ? 4 + 4 * head.readUInt16BE(2) : undefined;
    case DISPLAY.updateRequest:
    case DISPLAY.continuousUpdates:
      return 10;
    case DISPLAY.fence:
      return has(9) ? 9 + (head[8] ?? 0) : undefined;
    case INPUT.key:
      return 8;
    case INPUT.pointer:
      return 6;
    case INPUT.cutText:
      // A negative length marks the extended clipboard.
      return has(8) ? 8 + Math.abs(head.readInt32BE(4)) : undefined;
    case INPUT.xvp:
      return 4;
    case INPUT.desktopSize:
      return has(8) ? 8 + 16 * (head[6] ?? 0) : undefined;
    case INPUT.qemu:
      return qemuLength(head);
    default:
      throw unsupported(`message type ${head[0]}`);
  }
}

/** QEMU's own messages: extended key events and audio. Source: rfbproto, "QEMU Client Message". */
function qemuLength(head: Buffer): number | undefined {
  if (head.length < 2) return undefined;
  if (head[1] === 0) return 12;
  if (head[1] !== 1) throw unsupported(`QEMU message ${head[1]}`);
  if (head.length < 4) return undefined;
  return head.readUInt16BE(2) === 2 ? 10 : 4;
}

const unsupported = (what: string): DomainError =>
  new DomainError('INVALID_INPUT', `This console can't be viewed with a client that uses ${what}.`);
