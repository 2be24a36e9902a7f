import { DomainError } from '@headgate/domain-contracts';

/** Reads the fields of a content of a reader guest in their order. @throws DomainError BACKEND_FAILED at its end */
export class Fields {
  private at = 0;

  constructor(private readonly content: Buffer) {}

  get isAtEnd(): boolean {
    return this.at >= this.content.length;
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  short(): number {
    return this.take(2).readUInt16BE();
  }

  int(): number {
    return this.take(4).readUInt32BE();
  }

  /** A size: at least 0, and not more than a number can count. */
  size(): number {
    return Number(this.take(8).readBigUInt64BE() & BigInt(Number.MAX_SAFE_INTEGER));
  }

  /** Seconds since 1970. */
  seconds(): number {
    return Number(this.take(8).readBigInt64BE());
  }

  bytes(): Buffer {
    return this.take(this.short());
  }

  /** Of the reader's own words. */
  text(): string {
    return this.bytes().toString('utf8');
  }

  private take(length: number): Buffer {
    const end = this.at + length;
    if (end > this.content.length)
      throw new DomainError(
        'BACKEND_FAILED',
        'The guest that reads the files has sent an answer that is not complete.',
      );
    const part = this.content.subarray(this.at, end);
    this.at = end;
    return part;
  }
}
