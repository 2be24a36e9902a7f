import { RpcConnectionError } from '../errors.js';

/** The length field that precedes each message, and is counted in it. */
export const LENGTH_BYTES = 4;
export const HEADER_BYTES = 24;
/** libvirt's limit for a message without its length field. */
export const MAX_MESSAGE_BYTES = 33_554_432;

const INITIAL_BYTES = 65_536;

/**
 * Splits a stream of bytes into messages. It allocates at most twice the received bytes, whatever length the peer
 * announces.
 */
export class FrameDecoder {
  private buffer = Buffer.alloc(0);
  private received = 0;

  constructor(private readonly maxMessageBytes = MAX_MESSAGE_BYTES) {}

  /**
   * @returns the messages that are complete now, without their length fields
   * @throws RpcConnectionError `protocol` for an impossible length
   */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      const size = this.size(rest);
      if (size !== undefined && this.received === 0 && rest.length >= size) {
        // The whole message is in this chunk.
        messages.push(rest.subarray(LENGTH_BYTES, size));
        rest = rest.subarray(size);
        continue;
      }
      const missing = (size ?? LENGTH_BYTES) - this.received;
      const part = rest.subarray(0, missing);
      this.append(part, size ?? LENGTH_BYTES);
      rest = rest.subarray(part.length);
      const complete = this.size(Buffer.alloc(0));
      if (complete !== undefined && this.received === complete) {
        messages.push(this.buffer.subarray(LENGTH_BYTES, complete));
        this.buffer = Buffer.alloc(0);
        this.received = 0;
      }
    }
    return messages;
  }

  /** The announced size of the current message, with its length field; undefined while that is incomplete. */
  private size(next: Buffer): number | undefined {
    const source = this.received >= LENGTH_BYTES ? this.buffer : this.received === 0 ? next : undefined;
    if (source === undefined || source.length < LENGTH_BYTES) return undefined;
    const size = source.readUInt32BE(0);
    if (size < LENGTH_BYTES + HEADER_BYTES || size > LENGTH_BYTES + this.maxMessageBytes) {
      throw new RpcConnectionError('protocol', `libvirt announced a message of ${size} bytes.`);
    }
    return size;
  }

  private append(part: Buffer, size: number): void {
    const needed = this.received + part.length;
    if (needed > this.buffer.length) {
      const capacity = Math.min(size, Math.max(needed, this.buffer.length * 2, INITIAL_BYTES));
      const grown = Buffer.alloc(Math.max(capacity, needed));
      this.buffer.copy(grown, 0, 0, this.received);
      this.buffer = grown;
    }
    part.copy(this.buffer, this.received);
    this.received = needed;
  }
}
