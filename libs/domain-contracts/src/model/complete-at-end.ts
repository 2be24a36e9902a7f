import { once } from 'node:events';
import { pipeline, Transform, type Readable } from 'node:stream';
import { releaseOnDestroy } from './release-on-destroy.js';

/**
 * A stream that calls `end` once: with true when everything was read, before the reader receives the end of the stream,
 * or with false when it is destroyed earlier. Its `close` event follows only when that is done.
 */
export function completeAtEnd(stream: Readable, end: (isComplete: boolean) => Promise<void>): Readable {
  let ended: Promise<void> | undefined;
  const endOnce = (isComplete: boolean): Promise<void> => (ended ??= end(isComplete));
  const output = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, chunk),
    flush: (done) => {
      endOnce(true).then(
        () => done(),
        (error: unknown) => done(error as Error),
      );
    },
  });
  const closed = stream.closed ? undefined : once(stream, 'close').catch(() => undefined);
  // The reader of the output receives its error.
  pipeline(stream, output, () => undefined);
  return releaseOnDestroy(output, async () => {
    stream.destroy();
    await closed;
    await endOnce(false);
  });
}
