/** The last bytes of a stream, bounded. */
export class ByteRing {
  private chunks: Buffer[] = [];
  private length = 0;

  /** @param capacity in bytes */
  constructor(private readonly capacity: number) {}

  append(data: Buffer): void {
    // A copy of the end only: a slice would keep the whole of a large chunk alive.
    this.chunks.push(Buffer.from(data.length > this.capacity ? data.subarray(-this.capacity) : data));
    this.length += Math.min(data.length, this.capacity);
    while (this.length > this.capacity) {
      const [first] = this.chunks;
      if (!first) break;
      const surplus = this.length - this.capacity;
      if (first.length <= surplus) {
        this.chunks.shift();
        this.length -= first.length;
      } else {
        this.chunks[0] = first.subarray(surplus);
        this.length -= surplus;
      }
    }
    if (this.chunks.length > 256) this.chunks = [this.bytes()];
  }

  bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
}
