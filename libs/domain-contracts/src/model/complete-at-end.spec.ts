import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { completeAtEnd } from './complete-at-end.js';

describe('completeAtEnd', () => {
  const ended = (): { ends: boolean[]; end: (isComplete: boolean) => Promise<void> } => {
    const ends: boolean[] = [];
    return { ends, end: async (isComplete) => void ends.push(isComplete) };
  };

  test('ends once, before the reader receives the end', async () => {
    const { ends, end } = ended();
    const stream = completeAtEnd(Readable.from([Buffer.from('one'), Buffer.from('two')]), end);
    const closed = once(stream, 'close');
    const atEnd = once(stream, 'end').then(() => [...ends]);
    expect(String(await buffer(stream))).toBe('onetwo');
    expect(await atEnd).toEqual([true]);
    await closed;
    expect(ends).toEqual([true]);
  });

  test('is incomplete when it is destroyed earlier, also before anything was read', async () => {
    for (const isRead of [false, true]) {
      const { ends, end } = ended();
      const source = endless();
      const stream = completeAtEnd(source, end);
      if (isRead) await once(stream, 'data');
      const closed = once(stream, 'close');
      stream.destroy();
      await closed;
      expect([ends, source.closed]).toEqual([[false], true]);
    }
  });

  test('is incomplete when its source fails, with the error of the source', async () => {
    const { ends, end } = ended();
    const source = new Readable({ read: () => void source.destroy(new Error('broken')) });
    const stream = completeAtEnd(source, end);
    await expect(buffer(stream)).rejects.toThrow('broken');
    if (!stream.closed) await once(stream, 'close');
    expect(ends).toEqual([false]);
  });

  test('fails when the end fails', async () => {
    const stream = completeAtEnd(Readable.from([Buffer.from('one')]), async () => {
      throw new Error('not ended');
    });
    await expect(buffer(stream)).rejects.toThrow('not ended');
  });
});

const endless = (): Readable =>
  new Readable({
    read() {
      setImmediate(() => this.push(Buffer.alloc(65_536)));
    },
  });
