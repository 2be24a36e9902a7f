import { jest } from '@jest/globals';
import { ByteParser, skip, type Parsing } from './byte-parser.js';

describe('ByteParser', () => {
  function* reader(lengths: readonly number[], read: string[]): Parsing {
    for (const length of lengths) read.push((yield length).toString());
  }

  test('gives the parser the bytes it asks for, in whatever pieces they arrive', () => {
    for (let size = 1; size <= 10; size++) {
      const read: string[] = [];
      const parser = new ByteParser(reader([1, 3, 0, 2, 4], read));
      for (let at = 0; at < 10; at += size) parser.push(Buffer.from('abcdefghij').subarray(at, at + size));
      expect(read).toEqual(['a', 'bcd', '', 'ef', 'ghij']);
    }
  });

  test('ignores bytes after the end', () => {
    const read: string[] = [];
    const parser = new ByteParser(reader([2], read));
    parser.push(Buffer.from('abcd'));
    parser.push(Buffer.from('ef'));
    expect(read).toEqual(['ab']);
  });

  test('reads nothing after an error', () => {
    const parser = new ByteParser(
      (function* (): Parsing {
        yield 1;
        throw new Error('unreadable');
      })(),
    );
    expect(() => parser.push(Buffer.from('ab'))).toThrow('unreadable');
    expect(() => parser.push(Buffer.from('cd'))).not.toThrow();
  });

  test('copies a long message no more than twice, however small its pieces are', () => {
    const length = 1_048_576;
    const concat = jest.spyOn(Buffer, 'concat');
    let copied = 0;
    try {
      const parser = new ByteParser(
        (function* (): Parsing {
          expect(yield length).toHaveLength(length);
          yield* skip(15 * length);
        })(),
      );
      for (let sent = 0; sent < 16 * length; sent += 256) parser.push(Buffer.alloc(256));
      for (const { value } of concat.mock.results) copied += (value as Buffer).length;
    } finally {
      concat.mockRestore();
    }
    expect(copied).toBeLessThanOrEqual(2 * 16 * length);
  });
});
