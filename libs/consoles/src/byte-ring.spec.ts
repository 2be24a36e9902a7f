import { ByteRing } from './byte-ring.js';

describe('ByteRing', () => {
  test('keeps the last bytes, however they come', () => {
    const ring = new ByteRing(100);
    let all = '';
    for (let index = 0; index < 2000; index++) {
      const piece = `${index}`.repeat(1 + (index % 7));
      ring.append(Buffer.from(piece));
      all += piece;
      expect(ring.bytes().toString()).toBe(all.slice(-100));
    }
    ring.append(Buffer.from('y'.repeat(500)));
    expect(ring.bytes().toString()).toBe('y'.repeat(100));
  });
});
