import { constants, createDeflate } from 'node:zlib';

/** One zlib stream for a whole session, as ZRLE wants it; what it has seen makes the next piece shorter. */
export class DeflateStream {
  /** The quickest: the tiles are short already. */
  private readonly deflate = createDeflate({ level: 1 });
  private parts: Buffer[] = [];

  constructor() {
    this.deflate.on('data', (part: Buffer) => this.parts.push(part));
    this.deflate.on('error', () => undefined);
  }

  /** One at a time. Never answered when the stream is closed meanwhile. */
  compress(data: Buffer): Promise<Buffer> {
    return new Promise((resolve) => {
      this.deflate.write(data);
      this.deflate.flush(constants.Z_SYNC_FLUSH, () => {
        const compressed = Buffer.concat(this.parts);
        this.parts = [];
        resolve(compressed);
      });
    });
  }

  close(): void {
    this.deflate.destroy();
  }
}
