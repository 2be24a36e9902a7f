import type { BlobReader } from '../store/blob-reader.js';

/** The data blobs that were read last, up to a number of bytes. Callers that want the same blob share one read. */
export class BlobCache {
  private readonly blobs = new Map<string, Promise<Buffer>>();
  private readonly sizes = new Map<string, number>();
  private bytes = 0;

  constructor(
    private readonly reader: Pick<BlobReader, 'read'>,
    private readonly maxBytes: number,
  ) {}

  read(id: string): Promise<Buffer> {
    const cached = this.blobs.get(id);
    if (cached) {
      this.blobs.delete(id);
      this.blobs.set(id, cached);
      return cached;
    }
    const read = this.reader.read('data', id);
    this.blobs.set(id, read);
    read.then(
      ({ length }) => this.keep(id, length),
      () => this.blobs.delete(id),
    );
    return read;
  }

  private keep(id: string, length: number): void {
    this.sizes.set(id, length);
    this.bytes += length;
    for (const oldest of this.blobs.keys()) {
      if (this.bytes <= this.maxBytes) break;
      const size = this.sizes.get(oldest);
      // A blob without a size is still being read.
      if (size === undefined) continue;
      this.blobs.delete(oldest);
      this.sizes.delete(oldest);
      this.bytes -= size;
    }
  }
}
