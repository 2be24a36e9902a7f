import { XdrError } from '../errors.js';
import { padded } from './xdr-writer.js';

/** Reads values in XDR (RFC 4506). Every length is checked against a limit and against the bytes that are left. */
export class XdrReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get remainingBytes(): number {
    return this.bytes.length - this.at;
  }

  int(): number {
    return this.bytes.readInt32BE(this.take(4));
  }

  uint(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }

  /** Values beyond 2^53 lose precision. */
  hyper(): number {
    return Number(this.bytes.readBigInt64BE(this.take(8)));
  }

  /** Values beyond 2^53 lose precision. */
  unsignedHyper(): number {
    return Number(this.bytes.readBigUInt64BE(this.take(8)));
  }

  double(): number {
    return this.bytes.readDoubleBE(this.take(8));
  }

  string(maxBytes: number): string {
    const length = this.length(maxBytes, 1);
    const at = this.take(padded(length));
    return this.bytes.toString('utf8', at, at + length);
  }

  opaque(length: number): Buffer {
    const at = this.take(padded(length));
    return this.bytes.subarray(at, at + length);
  }

  /** Whether an optional value follows. */
  isPresent(): boolean {
    const flag = this.uint();
    if (flag > 1) throw new XdrError(`${flag} is no boolean.`);
    return flag === 1;
  }

  /** The length of an array, whose elements have at least `minElementBytes`. */
  length(max: number, minElementBytes: number): number {
    const length = this.uint();
    if (length > max) throw new XdrError(`A length of ${length} is more than ${max}.`);
    if (length * minElementBytes > this.remainingBytes) throw new XdrError('The message is truncated.');
    return length;
  }

  private take(bytes: number): number {
    const at = this.at;
    if (bytes > this.remainingBytes) throw new XdrError('The message is truncated.');
    this.at += bytes;
    return at;
  }
}
