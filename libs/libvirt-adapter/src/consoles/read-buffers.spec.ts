import { ReadBuffers } from './read-buffers.js';

const WHOLE = 65_536;

/** Simulates a read that fills `length` bytes with one value. */
function read(buffers: ReadBuffers, value: number, length = WHOLE): Buffer {
  buffers.next().fill(value, 0, length);
  return buffers.take(length);
}

const isAll = (data: Buffer, value: number): boolean => data.equals(Buffer.alloc(data.length, value));

describe('ReadBuffers', () => {
  test('never overwrites a lent buffer, and reuses it after it is recycled', () => {
    const buffers = new ReadBuffers();
    const first = read(buffers, 1);
    const second = read(buffers, 2);
    expect([isAll(first, 1), isAll(second, 2)]).toEqual([true, true]);
    buffers.recycle(first);
    read(buffers, 3);
    const fourth = read(buffers, 4);
    expect([isAll(second, 2), fourth.buffer === first.buffer]).toEqual([true, true]);
  });

  test('copies a small read instead of lending a whole buffer', () => {
    const buffers = new ReadBuffers();
    const target = buffers.next();
    const small = read(buffers, 1, 16_383);
    expect(small.buffer).not.toBe(target.buffer);
    expect(buffers.next()).toBe(target);
    read(buffers, 2);
    expect(isAll(small, 1)).toBe(true);
  });

  test.each<[string, (lent: Buffer) => Buffer[]]>([
    ['a part', (lent) => [lent.subarray(0, WHOLE / 2), lent.subarray(1)]],
    ['the same twice', (lent) => [lent, lent]],
    ["another stream's buffer", () => [read(new ReadBuffers(), 9)]],
  ])('never lends the same bytes twice after recycling %s', (_what, givenBack) => {
    const buffers = new ReadBuffers();
    const lent = read(buffers, 1);
    for (const data of givenBack(lent)) buffers.recycle(data);
    const later = Array.from({ length: 4 }, (_, index) => read(buffers, 2 + index));
    expect(new Set(later.map(({ buffer }) => buffer)).size).toBe(4);
    expect(later.every((data, index) => isAll(data, 2 + index))).toBe(true);
  });

  test('does not reuse a buffer of which only a slice was recycled', () => {
    const buffers = new ReadBuffers();
    const lent = read(buffers, 1);
    buffers.recycle(lent.subarray(0, WHOLE / 2));
    for (let value = 2; value < 6; value++) read(buffers, value);
    expect(isAll(lent, 1)).toBe(true);
  });
});
