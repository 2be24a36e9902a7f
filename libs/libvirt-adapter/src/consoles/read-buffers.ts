/** The most that one read of a socket returns. */
const BUFFER_BYTES = 65_536;
/** Smaller reads are copied: lent out, every few bytes that wait for a slow viewer would pin a whole buffer. */
const MIN_LENT_BYTES = BUFFER_BYTES / 4;
/** Number of free buffers to keep: slightly more than one viewer may have in flight. */
const MAX_FREE_BUFFERS = 20;

/**
 * A pool of read buffers for one stream. Without reuse, a console that prints fast allocates gigabytes and keeps the
 * garbage collector busy. A pool is never shared between streams, so the bytes of one guest can't leak into the console
 * of another.
 */
export class ReadBuffers {
  private current: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  private readonly free: Buffer[] = [];
  /** The buffers that are lent out, with the number of bytes handed over in each. */
  private readonly lent = new WeakMap<ArrayBufferLike, number>();

  /** The target of the next read. */
  next(): Buffer {
    return this.current;
  }

  /** The bytes of that read. They belong to the receiver until it recycles them. */
  take(length: number): Buffer {
    const taken = this.current.subarray(0, length);
    if (length < MIN_LENT_BYTES) return Buffer.from(taken);
    this.lent.set(taken.buffer, length);
    this.current = this.free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
    return taken;
  }

  /**
   * Returns a buffer to the pool. Ignores slices and buffers from elsewhere, which are left to the garbage collector.
   */
  recycle(data: Buffer): void {
    if (data.byteOffset !== 0 || this.lent.get(data.buffer) !== data.length) return;
    this.lent.delete(data.buffer);
    if (this.free.length < MAX_FREE_BUFFERS) this.free.push(Buffer.from(data.buffer));
  }
}
