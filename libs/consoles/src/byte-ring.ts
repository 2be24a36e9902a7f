/** The last bytes of a stream, in a buffer that is allocated once: a fast stream creates no garbage. */
export class ByteRing {
  private readonly buffer: Buffer;
  /** Where the next byte goes. */
  private end = 0;
  private full = false;

  /** @param capacity in bytes */
  constructor(capacity: number) {
    this.buffer = Buffer.allocUnsafeSlow(capacity);
  }

  append(data: Buffer): void {
    const { buffer } = this;
    const last = data.length > buffer.length ? data.subarray(-buffer.length) : data;
    const untilEnd = Math.min(last.length, buffer.length - this.end);
    last.copy(buffer, this.end, 0, untilEnd);
    last.copy(buffer, 0, untilEnd);
    this.full ||= this.end + last.length >= buffer.length;
    this.end = (this.end + last.length) % buffer.length;
  }

  bytes(): Buffer {
    const newest = this.buffer.subarray(0, this.end);
    return this.full ? Buffer.concat([this.buffer.subarray(this.end), newest]) : Buffer.from(newest);
  }
}
