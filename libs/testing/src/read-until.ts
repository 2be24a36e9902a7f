import type { Readable } from 'node:stream';

/**
 * Reads until the data matches, and returns all of it, one character per byte.
 * @param before data that was read earlier
 * @throws Error when the stream ends before
 */
export function readUntil(stream: Readable, pattern: RegExp, before = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = before;
    const finish = (settle: () => void): void => {
      stream.off('data', read).off('close', ended).off('end', ended).off('error', reject);
      stream.pause();
      settle();
    };
    const ended = (): void =>
      finish(() => reject(new Error(`The stream ended after ${JSON.stringify(text.slice(-300))}.`)));
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (pattern.test(text)) finish(() => resolve(text));
    };
    stream.on('data', read).on('close', ended).on('end', ended).on('error', reject);
    // A paused stream does not resume automatically.
    stream.resume();
  });
}
