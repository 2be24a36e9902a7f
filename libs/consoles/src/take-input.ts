import type { Duplex } from 'node:stream';
import type { Viewer } from './viewer.js';

/** Hands a viewer's bytes to a stream, no faster than the stream takes them. */
export function takeInput(viewer: Viewer, data: Buffer, stream: Duplex): void {
  if (stream.destroyed || stream.writableEnded) return;
  if (stream.write(data)) return;
  viewer.pause();
  // A stream that ends takes nothing any more; its successor does.
  const goOn = (): void => {
    stream.off('drain', goOn).off('close', goOn);
    viewer.resume();
  };
  stream.on('drain', goOn).on('close', goOn);
}
