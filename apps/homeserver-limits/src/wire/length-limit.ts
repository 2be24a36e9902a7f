import { Transform, type TransformCallback } from 'node:stream';
import { tooLarge } from './request-body.js';

/** Lets `limit` bytes through and fails with M_TOO_LARGE on the next one. Holds nothing back. */
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
