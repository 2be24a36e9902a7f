import { once } from 'node:events';
import { Readable } from 'node:stream';
import { closeStream, closeWhenRead } from './close-when-read.js';
import { releaseOnDestroy } from './release-on-destroy.js';

async function* lengthsOf(content: Readable): AsyncGenerator<number> {
  for await (const part of content) yield (part as Buffer).length;
}

describe('the items of a stream', () => {
  let released: number;
  beforeEach(() => (released = 0));

  const open = (parts: readonly string[] = ['ab', 'c'], failure?: Error): Readable => {
    const content = Readable.from(parts.map((part) => Buffer.from(part)));
    return releaseOnDestroy(content, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      released++;
      if (failure) throw failure;
    });
  };
  const all = async (content: Readable): Promise<number[]> => {
    const found: number[] = [];
    for await (const length of closeWhenRead(content, lengthsOf)) found.push(length);
    return found;
  };

  test('end when the stream is closed', async () => {
    expect([await all(open()), released]).toEqual([[2, 1], 1]);
  });

  test('close the stream when their reader stops early', async () => {
    const content = open();
    for await (const length of closeWhenRead(content, lengthsOf)) if (length === 2) break;
    expect([content.closed, released]).toEqual([true, 1]);
  });

  test('close the stream when reading fails', async () => {
    const content = open();
    const failure = new Error('The block is damaged.');
    const fails = (): AsyncIterable<number> => {
      throw failure;
    };
    await expect(closeWhenRead(content, fails).next()).rejects.toBe(failure);
    expect([content.closed, released]).toEqual([true, 1]);
  });

  test('fail with the error of a stream that was closed before they are read', async () => {
    const content = open();
    const failure = new Error('The program has ended.');
    content.destroy(failure);
    await expect(once(content, 'close')).rejects.toBe(failure);
    if (!content.closed) await once(content, 'close');
    await expect(all(content)).rejects.toThrow();
    expect(released).toBe(1);
  });

  test('fail when the stream can not be released at its end, but not when their reader has stopped', async () => {
    const failure = new Error('The program does not end.');
    await expect(all(open(['abc'], failure))).rejects.toBe(failure);
    const content = open(['ab', 'c'], failure);
    await closeStream(content);
    expect([content.closed, released]).toEqual([true, 2]);
  });

  test('are not needed to close a stream, also twice', async () => {
    const content = open();
    await Promise.all([closeStream(content), closeStream(content)]);
    await closeStream(content);
    expect(released).toBe(1);
  });
});
