import { Transform } from 'node:stream';

/** Hears how many bytes have come, of how many when that is known. */
export type BytesListener = (received: number, total: number | undefined) => void;

/** Passes bytes on and counts them; told at most once for each percent or megabyte. */
export function countBytes(total: number | undefined, listener: BytesListener): Transform {
  let received = 0;
  let toldAt = 0;
  const step = total === undefined ? 1024 ** 2 : Math.max(Math.floor(total / 100), 64 * 1024);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received - toldAt >= step) {
        toldAt = received;
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
