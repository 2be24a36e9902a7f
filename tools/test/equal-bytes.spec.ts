import { equalBytes } from './equal-bytes.js';

const bytes = Buffer.from([1, 2, 3]);

test('buffers are equal with the same bytes only', () => {
  expect(equalBytes(bytes, Buffer.from([1, 2, 3]))).toBe(true);
  expect(equalBytes(bytes, Buffer.from([1, 2, 4]))).toBe(false);
  expect(equalBytes(bytes, Buffer.from([1, 2]))).toBe(false);
});

test.each([[new Uint8Array([1, 2, 3])], [[1, 2, 3]], [null], ['abc']])('other values are left to Jest: %p', (other) => {
  expect(equalBytes(bytes, other)).toBeUndefined();
  expect(equalBytes(other, bytes)).toBeUndefined();
});

test('every spec compares with it, also inside of other values', () => {
  expect({ bytes }).toEqual({ bytes: Buffer.from([1, 2, 3]) });
  expect({ bytes }).not.toEqual({ bytes: Buffer.from([1, 2, 4]) });
  expect({ bytes }).toStrictEqual({ bytes: Buffer.from([1, 2, 3]) });
  expect({ bytes }).not.toStrictEqual({ bytes: new Uint8Array([1, 2, 3]) });
  expect(bytes).not.toEqual([1, 2, 3]);
});
