import { Transform, type TransformCallback } from 'node:stream';
import { tooLarge } from './request-body.js';

/** Passes `limit` bytes and fails with M_TOO_LARGE on the next one. Buffers nothing. */
export class LengthLimit extends Transform {
  private seen = 0;

  constructor(private readonly limit: number) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.seen += chunk.length;
    if (this.seen > this.limit) done(tooLarge(this.limit));
    else done(null, chunk);
  }
}
