import type { Duplex } from 'node:stream';
import type { Viewer } from './viewer.js';

/** Writes a viewer's input to a stream, and pauses the viewer while the stream's buffer is full. */
export function forwardInput(viewer: Viewer, data: Buffer, stream: Duplex): void {
  if (stream.destroyed || stream.writableEnded) return;
  if (stream.write(data)) return;
  viewer.pause();
  // A stream that closes never drains; the viewer's further input goes to the stream that replaces it.
  const resume = (): void => {
    stream.off('drain', resume).off('close', resume);
    viewer.resume();
  };
  stream.on('drain', resume).on('close', resume);
}
