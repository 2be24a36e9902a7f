import { crc32, gunzipSync } from 'node:zlib';
import { crc32Combine } from './crc32-combine.js';
import { GZIP_HEADER, GzipBlocks } from './gzip-blocks.js';

const pieces = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));

describe('crc32Combine', () => {
  test('is the CRC of both texts together, whatever their lengths', () => {
    const text = Buffer.from('gzip '.repeat(20_000));
    for (const cut of [0, 1, 2, 7, 255, 4096, 65_537, 99_999, text.length]) {
      const second = text.subarray(cut);
      expect(crc32Combine(crc32(text.subarray(0, cut)), crc32(second), second.length)).toBe(crc32(text));
    }
  });
});

describe('GzipBlocks', () => {
  test('makes a gzip file of all pieces in their order', async () => {
    const blocks = new GzipBlocks();
    const body = pieces('[', 'a'.repeat(100_000), `,${'b'.repeat(50_000)}`, '', ']');
    const file = Buffer.concat(await blocks.file(body));
    // gunzip compares the checksum and the length, and refuses anything after the end.
    expect(gunzipSync(file)).toEqual(Buffer.concat(body));
    expect(file.length).toBeLessThan(1000);
  });

  test('compresses a piece that stays only once, also for requests at the same time', async () => {
    const blocks = new GzipBlocks();
    const [open, kept, changed, after] = pieces('[', 'kept '.repeat(9), 'one', 'two');
    const [first, second] = await Promise.all([
      blocks.file([open!, kept!, changed!]),
      blocks.file([open!, kept!, after!]),
    ]);
    expect(second[2]).toBe(first[2]);
    expect(String(gunzipSync(Buffer.concat(second)))).toBe(`[${'kept '.repeat(9)}two`);
  });

  test('makes parts that may follow each other in any order, in an endless stream', async () => {
    const blocks = new GzipBlocks();
    const [early, late] = pieces('the same words, '.repeat(5), 'the same words again');
    const lateBytes = blocks.part(late!);
    const [earlyBytes] = await blocks.parts([early!]);
    expect(blocks.part(late!)).toBe(lateBytes);
    const read = (...parts: Buffer[]): string =>
      String(gunzipSync(Buffer.concat([GZIP_HEADER, ...parts]), { finishFlush: 2 }));
    expect(read(earlyBytes!, lateBytes)).toBe(`${String(early)}${String(late)}`);
    expect(read(lateBytes, lateBytes, earlyBytes!)).toBe(`${String(late)}${String(late)}${String(early)}`);
  });

  test('compresses many pieces with a few at a time', async () => {
    const blocks = new GzipBlocks();
    const body = Array.from({ length: 300 }, (_none, index) => Buffer.from(`${index},`.repeat(200)));
    expect(gunzipSync(Buffer.concat(await blocks.file(body)))).toEqual(Buffer.concat(body));
  });
});
