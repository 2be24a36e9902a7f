import { DomainError } from '@headgate/domain-contracts';

/** Reads a stream of chunks of any size by numbers of bytes. */
export class ByteReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.chunks = stream[Symbol.asyncIterator]();
  }

  /** The next bytes, in one buffer. @throws DomainError BACKEND_FAILED when the stream ends before */
  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.pass(length)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** The same as they come, for any number of bytes. */
  async *pass(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0;) {
      const chunk = await this.next();
      if (!chunk) throw new DomainError('BACKEND_FAILED', 'The archive ended in the middle.');
      const part = chunk.subarray(0, left);
      this.rest = chunk.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** Everything that is left. */
  async *all(): AsyncGenerator<Buffer> {
    for (let chunk = await this.next(); chunk; chunk = await this.next()) {
      this.rest = Buffer.alloc(0);
      yield chunk;
    }
  }

  private async next(): Promise<Buffer | undefined> {
    if (this.rest.length > 0) return this.rest;
    for (;;) {
      const { value, done } = await this.chunks.next();
      if (done) return undefined;
      if (value.length > 0) return value;
    }
  }
}
