import type { Readable } from 'node:stream';

/**
 * The items that `read` finds in a stream. The stream is closed with `closeStream` at the end, after an error, and when
 * the reader of the items stops early.
 */
export async function* closeWhenRead<T>(
  content: Readable,
  read: (content: Readable) => AsyncIterable<T>,
): AsyncGenerator<T> {
  try {
    yield* read(content);
  } finally {
    await closeStream(content);
  }
}

/** Destroys a stream, and waits until it is closed: its program has released the disk by then. */
export async function closeStream(content: Readable): Promise<void> {
  // Its content was used already, or its reader has received the error.
  content.on('error', () => undefined).destroy();
  if (!content.closed) await new Promise((resolve) => content.once('close', resolve));
}
