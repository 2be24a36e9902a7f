import { inflateSync } from 'node:zlib';
import { toPng } from './picture.js';

describe('the picture of a screen', () => {
  const pixels = Buffer.from([255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

  test('is a PNG with the pixels of a PPM', () => {
    const png = toPng(Buffer.concat([Buffer.from('P6\n3 2\n255\n'), pixels]));
    expect(png.toString('latin1', 1, 4)).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([3, 2]);
    const at = png.indexOf('IDAT');
    const lines = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
    expect(lines).toEqual(
      Buffer.concat([Buffer.from([0]), pixels.subarray(0, 9), Buffer.from([0]), pixels.subarray(9)]),
    );
  });

  test('stays as it is when it is a PNG', () => {
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), pixels]);
    expect(toPng(png)).toBe(png);
  });

  test.each([
    ['nothing', ''],
    ['a text', 'error: no screen'],
    ['too few pixels', 'P6\n300 200\n255\nabc'],
    ['no size', 'P6\n0 0\n255\n'],
    ['a size that is too large', 'P6\n99999 99999\n255\n'],
    ['more than 8 bits', 'P6\n1 1\n65535\nabcdef'],
  ])('is refused for %s', (_name, content) => {
    expect(() => toPng(Buffer.from(content))).toThrow(/no picture/);
  });
});
