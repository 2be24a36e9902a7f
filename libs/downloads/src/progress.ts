import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/** Receives the number of bytes read so far, and the total if it is known. */
export type BytesListener = (received: number, total: number | undefined) => void;

/** Passes bytes through and reports their number, at most once per percent or mebibyte. */
export function countBytes(total: number | undefined, listener: BytesListener): Transform {
  let received = 0;
  let reportedAt = 0;
  const step = total === undefined ? 1024 ** 2 : Math.max(Math.floor(total / 100), 64 * 1024);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received - reportedAt >= step) {
        reportedAt = received;
        listener(received, total);
      }
      done(null, chunk);
    },
    flush(done) {
      listener(received, total);
      done();
    },
  });
}

/** Passes bytes through and computes their SHA-256 digest, which is complete when the stream has ended. */
export function hashBytes(): { readonly stream: Transform; hex(): string } {
  const hash = createHash('sha256');
  return {
    stream: new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    }),
    hex: () => hash.digest('hex'),
  };
}
