import { DomainError } from '@headgate/domain-contracts';

/**
 * Reads what an RFB client sends, in order to decide what of it goes on.
 * Source: RFC 6143, section 7; message types beyond it: https://www.iana.org/assignments/rfb/rfb.xhtml
 */

/** Messages that only say how the client wants to be shown the screen, with their lengths in bytes. */
const SHOWING = { setPixelFormat: 0, setEncodings: 2, updateRequest: 3, continuousUpdates: 150, fence: 248 } as const;
/** Messages that act on the guest: keys, pointer, clipboard, desktop size, power (xvp), QEMU's key events. */
const ACTING = { key: 4, pointer: 5, cutText: 6, xvp: 250, desktopSize: 251, qemu: 255 } as const;

const SECURITY_NONE = 1;
const SECURITY_VNC = 2;

type Stage = 'version' | 'security' | 'password' | 'init' | 'messages';

/**
 * Lets an RFB client's bytes through, with two changes. The client's wish to be the only viewer is taken back, so that
 * nobody ends another's session by looking. And for a view-only client everything that acts on the guest is dropped.
 */
export class RfbClientFilter {
  private stage: Stage = 'version';
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly viewOnly: boolean) {}

  /**
   * @returns the bytes to send on
   * @throws DomainError INVALID_INPUT when the client speaks what can't be followed, so that nothing slips through
   */
  pass(data: Buffer): Buffer {
    if (this.stage === 'messages' && !this.viewOnly) return data;
    this.rest = this.rest.length === 0 ? data : Buffer.concat([this.rest, data]);
    const out: Buffer[] = [];
    while (this.rest.length > 0) {
      if (this.stage === 'messages' && !this.viewOnly) {
        out.push(this.take(this.rest.length));
        break;
      }
      const length = this.lengthOfNext();
      if (length === undefined || this.rest.length < length) break;
      const message = this.take(length);
      if (this.keep(message)) out.push(message);
    }
    if (this.rest.length > MAX_MESSAGE) throw cannotFollow('too long a message');
    return Buffer.concat(out);
  }

  private take(length: number): Buffer {
    const message = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(length);
    return message;
  }

  /** Undefined: more bytes are needed to tell. */
  private lengthOfNext(): number | undefined {
    if (this.stage === 'version') return 12;
    if (this.stage === 'password') return 16;
    if (this.stage !== 'messages') return 1;
    return messageLength(this.rest);
  }

  private keep(message: Buffer): boolean {
    const type = message[0] ?? 0;
    switch (this.stage) {
      case 'version':
        if (!/^RFB 003\.00[78]\n$/.test(message.toString('latin1')))
          throw cannotFollow('a protocol older than RFB 3.7');
        this.stage = 'security';
        return true;
      case 'security':
        if (type !== SECURITY_NONE && type !== SECURITY_VNC) throw cannotFollow(`security type ${type}`);
        this.stage = type === SECURITY_VNC ? 'password' : 'init';
        return true;
      case 'password':
        this.stage = 'init';
        return true;
      case 'init':
        this.stage = 'messages';
        message[0] = 1;
        return true;
      case 'messages':
        return (Object.values(SHOWING) as number[]).includes(type);
    }
  }
}

/** A clipboard may be large; nothing else is. */
const MAX_MESSAGE = 16_777_216;

function messageLength(bytes: Buffer): number | undefined {
  const need = (count: number): boolean => bytes.length >= count;
  switch (bytes[0]) {
    case SHOWING.setPixelFormat:
      return 20;
    case SHOWING.setEncodings:
      return need(4) ? 4 + 4 * bytes.readUInt16BE(2) : undefined;
    case SHOWING.updateRequest:
    case SHOWING.continuousUpdates:
      return 10;
    case SHOWING.fence:
      return need(9) ? 9 + (bytes[8] ?? 0) : undefined;
    case ACTING.key:
      return 8;
    case ACTING.pointer:
      return 6;
    case ACTING.cutText:
      // A negative length marks the extended clipboard.
      return need(8) ? 8 + Math.abs(bytes.readInt32BE(4)) : undefined;
    case ACTING.xvp:
      return 4;
    case ACTING.desktopSize:
      return need(8) ? 8 + 16 * (bytes[6] ?? 0) : undefined;
    case ACTING.qemu:
      return qemuLength(bytes);
    default:
      throw cannotFollow(`message type ${bytes[0]}`);
  }
}

/** QEMU's own messages: extended key events and audio. Source: https://www.qemu.org/docs/master/interop/vnc-ledstate-pseudo-encoding.html and rfbproto. */
function qemuLength(bytes: Buffer): number | undefined {
  if (bytes.length < 2) return undefined;
  if (bytes[1] === 0) return 12;
  if (bytes[1] !== 1) throw cannotFollow(`QEMU message ${bytes[1]}`);
  if (bytes.length < 4) return undefined;
  return bytes.readUInt16BE(2) === 2 ? 10 : 4;
}

const cannotFollow = (what: string): DomainError =>
  new DomainError('INVALID_INPUT', `This console can't be watched with a client that uses ${what}.`);
