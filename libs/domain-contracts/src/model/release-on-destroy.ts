import type { Readable } from 'node:stream';

/**
 * Releases the resources of a stream when it ends or is destroyed. Its `close` event follows only when that is done.
 */
export function releaseOnDestroy<T extends Readable>(stream: T, release: () => Promise<void>): T {
  const destroy = stream._destroy.bind(stream);
  stream._destroy = (error, done) =>
    destroy(error, (cause) => {
      void release().then(
        () => done(cause ?? error),
        (failure: unknown) => done(cause ?? error ?? (failure as Error)),
      );
    });
  return stream;
}
