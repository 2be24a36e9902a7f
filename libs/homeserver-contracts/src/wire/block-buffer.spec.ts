import { BlockBuffer } from './block-buffer.js';

const BLOCK_BYTES = 64 * 1024;
const chunk = (bytes: number, text: string) => Buffer.alloc(bytes, text);

describe('BlockBuffer', () => {
  let grown: number[];
  let buffer: BlockBuffer;
  beforeEach(() => {
    grown = [];
    buffer = new BlockBuffer((bytes) => grown.push(bytes));
  });

  test.each([
    ['a part of a block', 100, 7],
    ['exactly one block', BLOCK_BYTES, BLOCK_BYTES],
    ['several blocks', 5 * BLOCK_BYTES + 17, 10_000],
  ])('returns all bytes: %s', (_what, bytes, chunkBytes) => {
    const whole = Buffer.from(Array.from({ length: bytes }, (_, index) => index % 251));
    for (let at = 0; at < bytes; at += chunkBytes) {
      buffer.append(Buffer.from(whole.subarray(at, at + chunkBytes)), bytes - at);
    }
    expect(buffer.take().equals(whole)).toBe(true);
    const allocated = grown.reduce((sum, one) => sum + one, 0);
    expect(allocated).toBeGreaterThanOrEqual(bytes);
    expect(allocated).toBeLessThan(bytes + BLOCK_BYTES);
  });

  test('holds nothing after it was dropped, also by its own growth', () => {
    buffer = new BlockBuffer((bytes) => {
      grown.push(bytes);
      if (grown.length === 2) buffer.drop();
    });
    buffer.append(chunk(4 * BLOCK_BYTES, 'x'), 4 * BLOCK_BYTES);
    buffer.append(chunk(10, 'y'), 10);
    expect([grown.length, buffer.take().length]).toEqual([2, 0]);
  });
});
