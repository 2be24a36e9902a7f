/** Smaller pieces are joined, so that a client that sends single bytes does not fill the memory with buffers. */
const SMALL_BYTES = 1024;
const MAX_SMALL_CHUNKS = 1024;

/** Bytes that wait to be read. Each byte is copied twice at most, however small the pieces are in which they arrive. */
export class ByteQueue {
  private chunks: Buffer[] = [];
  /** How many chunks at the end are small. */
  private smallChunks = 0;
  private queued = 0;

  get length(): number {
    return this.queued;
  }

  push(data: Buffer): void {
    if (data.length === 0) return;
    this.chunks.push(data);
    this.queued += data.length;
    this.smallChunks = data.length < SMALL_BYTES ? this.smallChunks + 1 : 0;
    if (this.smallChunks === MAX_SMALL_CHUNKS) this.joinSmallChunks();
  }

  /** Removes the next bytes and returns them. There must be as many. */
  take(length: number): Buffer {
    const [first] = this.chunks;
    if (first && first.length >= length) return this.takeFrom(first, length);
    const whole = this.wholeChunks(length);
    const parts = this.chunks.splice(0, whole.count);
    this.queued -= whole.bytes;
    const [next] = this.chunks;
    if (next && whole.bytes < length) parts.push(this.takeFrom(next, length - whole.bytes));
    return Buffer.concat(parts);
  }

  /** The next bytes, fewer when there are not as many. They stay in the queue. */
  peek(length: number): Buffer {
    const [first] = this.chunks;
    if (!first || first.length >= length) return (first ?? Buffer.alloc(0)).subarray(0, length);
    const parts: Buffer[] = [];
    for (let index = 0, missing = length; index < this.chunks.length && missing > 0; index++) {
      const part = this.chunks[index]?.subarray(0, missing) ?? Buffer.alloc(0);
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Drops up to that many bytes and returns how many. */
  skip(length: number): number {
    const { bytes, count } = this.wholeChunks(length);
    this.chunks.splice(0, count);
    this.queued -= bytes;
    const [first] = this.chunks;
    if (!first || bytes === length) return bytes;
    this.takeFrom(first, length - bytes);
    return length;
  }

  clear(): void {
    this.chunks = [];
    this.queued = 0;
  }

  private joinSmallChunks(): void {
    const small = this.chunks.splice(-Math.min(this.smallChunks, this.chunks.length));
    this.chunks.push(Buffer.concat(small));
    this.smallChunks = 0;
  }

  private takeFrom(first: Buffer, length: number): Buffer {
    if (first.length === length) this.chunks.shift();
    else this.chunks[0] = first.subarray(length);
    this.queued -= length;
    return first.subarray(0, length);
  }

  /** How many chunks fit into that length as a whole, and their bytes. */
  private wholeChunks(length: number): { count: number; bytes: number } {
    let count = 0;
    let bytes = 0;
    for (const chunk of this.chunks) {
      if (bytes + chunk.length > length) break;
      bytes += chunk.length;
      count++;
    }
    return { count, bytes };
  }
}
