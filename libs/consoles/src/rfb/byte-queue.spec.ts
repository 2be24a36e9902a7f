import { ByteQueue } from './byte-queue.js';

describe('ByteQueue', () => {
  const queueOf = (...pieces: string[]): ByteQueue => {
    const queue = new ByteQueue();
    for (const piece of pieces) queue.push(Buffer.from(piece));
    return queue;
  };

  test('returns bytes in order, across the pieces in which they arrived', () => {
    const queue = queueOf('ab', '', 'cde', 'f');
    expect(queue.take(1).toString()).toBe('a');
    expect(queue.take(3).toString()).toBe('bcd');
    expect(queue.take(2).toString()).toBe('ef');
    expect(queue.length).toBe(0);
  });

  test('peeks without taking, and returns fewer bytes when there are fewer', () => {
    const queue = queueOf('ab', 'cd');
    expect(queue.peek(3).toString()).toBe('abc');
    expect(queue.peek(9).toString()).toBe('abcd');
    expect(queue.length).toBe(4);
    expect(new ByteQueue().peek(2)).toHaveLength(0);
  });

  test('skips up to the number of bytes', () => {
    const queue = queueOf('ab', 'cd', 'ef');
    expect(queue.skip(3)).toBe(3);
    expect(queue.take(1).toString()).toBe('d');
    expect(queue.skip(9)).toBe(2);
    expect(queue.length).toBe(0);
  });

  test('takes nothing and skips nothing', () => {
    const queue = queueOf('a');
    expect(queue.take(0)).toHaveLength(0);
    expect(queue.skip(0)).toBe(0);
    expect(queue.length).toBe(1);
    expect(new ByteQueue().take(0)).toHaveLength(0);
  });

  test('joins many small pieces', () => {
    const queue = new ByteQueue();
    for (let value = 0; value < 3000; value++) queue.push(Buffer.from([value % 256]));
    expect(queue.take(2500)).toEqual(Buffer.from(Array.from({ length: 2500 }, (_none, value) => value % 256)));
    for (let value = 3000; value < 6000; value++) queue.push(Buffer.from([value % 256]));
    expect(queue.length).toBe(3500);
    expect(queue.take(3500)).toEqual(Buffer.from(Array.from({ length: 3500 }, (_none, index) => (2500 + index) % 256)));
  });
});
