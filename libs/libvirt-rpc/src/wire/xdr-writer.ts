import { XdrError } from '../errors.js';

const INITIAL_BYTES = 256;

/** Appends values in XDR (RFC 4506): big-endian, in units of four bytes. */
export class XdrWriter {
  private buffer: Buffer;
  private length = 0;

  /** @param reservedBytes left free at the beginning, for the header of the message */
  constructor(reservedBytes = 0) {
    this.buffer = Buffer.alloc(Math.max(INITIAL_BYTES, reservedBytes));
    this.length = reservedBytes;
  }

  int(value: number): void {
    if (!Number.isInteger(value) || value < -0x80000000 || value > 0x7fffffff)
      throw new XdrError(`${value} is no int.`);
    const at = this.reserve(4);
    this.buffer.writeInt32BE(value, at);
  }

  uint(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
      throw new XdrError(`${value} is no unsigned int.`);
    }
    const at = this.reserve(4);
    this.buffer.writeUInt32BE(value, at);
  }

  hyper(value: number): void {
    if (!Number.isSafeInteger(value)) throw new XdrError(`${value} is no safe integer.`);
    const at = this.reserve(8);
    this.buffer.writeBigInt64BE(BigInt(value), at);
  }

  double(value: number): void {
    const at = this.reserve(8);
    this.buffer.writeDoubleBE(value, at);
  }

  string(value: string, maxBytes: number): void {
    const bytes = Buffer.from(value, 'utf8');
    if (bytes.length > maxBytes) throw new XdrError(`A string of ${bytes.length} bytes is longer than ${maxBytes}.`);
    if (bytes.includes(0)) throw new XdrError('A string contains a NUL character.');
    this.uint(bytes.length);
    this.opaque(bytes);
  }

  /** Bytes of a fixed length, padded to a multiple of four. */
  opaque(bytes: Uint8Array): void {
    const at = this.reserve(padded(bytes.length));
    this.buffer.set(bytes, at);
    this.buffer.fill(0, at + bytes.length, at + padded(bytes.length));
  }

  toBuffer(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private reserve(bytes: number): number {
    const at = this.length;
    this.length += bytes;
    if (this.length > this.buffer.length) {
      const grown = Buffer.alloc(Math.max(this.length, this.buffer.length * 2));
      this.buffer.copy(grown, 0, 0, at);
      this.buffer = grown;
    }
    return at;
  }
}

export const padded = (bytes: number): number => Math.ceil(bytes / 4) * 4;
