import { releaseBytes } from './release-bytes.js';

describe('releaseBytes', () => {
  test('frees a large chunk', () => {
    const chunk = Buffer.allocUnsafeSlow(64 * 1024);
    releaseBytes(chunk);
    expect(chunk.length).toBe(0);
  });

  test('leaves a part of a buffer, whose other parts may be used', () => {
    const whole = Buffer.alloc(64 * 1024, 'x');
    releaseBytes(whole.subarray(0, 32 * 1024));
    expect(whole.length).toBe(64 * 1024);
  });
});
