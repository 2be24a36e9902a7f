/** As much as one read of a socket brings at the most, in bytes. */
const SIZE = 65_536;
/** A read of less is copied out: lent as it is, each byte that waits for a slow viewer could hold a whole buffer. */
const WORTH_LENDING = SIZE / 4;
/** How many buffers are kept for the next reads: somewhat more than one viewer may have in flight. */
const KEPT = 20;

/**
 * The buffers that one stream is read into, used again once they came back. A console that prints fast would make
 * gigabytes of them, and the collector marks the whole heap to be rid of them. Never shared between streams, so that
 * the bytes of one guest can't show up at another.
 */
export class ReadBuffers {
  private current: Buffer = Buffer.allocUnsafeSlow(SIZE);
  private readonly free: Buffer[] = [];
  /** What is out, and how much of it was handed over. */
  private readonly lent = new WeakMap<ArrayBufferLike, number>();

  /** Where the next read goes. */
  next(): Buffer {
    return this.current;
  }

  /** What that read brought. It stays the receiver's, unless he gives it back. */
  take(length: number): Buffer {
    const taken = this.current.subarray(0, length);
    if (length < WORTH_LENDING) return Buffer.from(taken);
    this.lent.set(taken.buffer, length);
    this.current = this.free.pop() ?? Buffer.allocUnsafeSlow(SIZE);
    return taken;
  }

  /** For what nobody looks at any more. What was not lent here, or is a part only, is left to the collector. */
  recycle(data: Buffer): void {
    if (data.byteOffset !== 0 || this.lent.get(data.buffer) !== data.length) return;
    this.lent.delete(data.buffer);
    if (this.free.length < KEPT) this.free.push(Buffer.from(data.buffer));
  }
}
