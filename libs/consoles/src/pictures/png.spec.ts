import { crc32, inflateSync } from 'node:zlib';
import { buildPicture } from '../rfb/testing/pictures.js';
import { smaller } from './picture.js';
import { encodePng } from './png.js';

/** Reads a PNG of this encoder's kind: 8 bits, RGB, each row filtered with Up. */
function readPng(png: Buffer): { width: number; height: number; pixels: number[] } {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(png.subarray(at + 4, at + 8 + length)));
    chunks.set(type, png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND']);
  const header = chunks.get('IHDR') as Buffer;
  expect([...header.subarray(8)]).toEqual([8, 2, 0, 0, 0]);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const rows = inflateSync(chunks.get('IDAT') as Buffer);
  const stride = 1 + width * 3;
  expect(rows).toHaveLength(stride * height);
  const pixels: number[] = [];
  for (let y = 0; y < height; y++) {
    expect(rows[y * stride]).toBe(2);
    for (let x = 1; x < stride; x++) {
      if (y > 0) rows[y * stride + x] = ((rows[y * stride + x] ?? 0) + (rows[(y - 1) * stride + x] ?? 0)) & 0xff;
    }
    for (let x = 0; x < width; x++) pixels.push(rows.readUIntBE(y * stride + 1 + x * 3, 3));
  }
  return { width, height, pixels };
}

describe('a PNG', () => {
  test('has the pixels of the screen', async () => {
    const picture = buildPicture({ width: 123, height: 45 });
    const png = await encodePng(picture);
    expect(png.subarray(0, 8)).toEqual(Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]));
    expect(readPng(png)).toEqual({ width: 123, height: 45, pixels: [...picture.pixels] });
  });

  test('of a large plain screen is small', async () => {
    const plain = { width: 640, height: 480, pixels: new Uint32Array(640 * 480).fill(0x123456) };
    expect((await encodePng(plain)).length).toBeLessThan(4096);
  });
});

describe('a smaller picture', () => {
  test('keeps the proportions, and is never enlarged', async () => {
    const sizeOf = async (width: number, height: number, maxWidth: number): Promise<number[]> => {
      const size = await smaller({ width, height, pixels: new Uint32Array(width * height) }, maxWidth);
      return [size.width, size.height, size.pixels.length];
    };
    expect(await sizeOf(1280, 800, 640)).toEqual([640, 400, 256_000]);
    expect(await sizeOf(320, 200, 640)).toEqual([320, 200, 64_000]);
    expect(await sizeOf(1, 4096, 640)).toEqual([1, 640, 640]);
    expect(await sizeOf(4096, 4096, 64)).toEqual([64, 64, 4096]);
  });

  test('has the mean of the covered pixels', async () => {
    const pixels = Uint32Array.of(0x000000, 0xff8000, 0xffffff, 0xffffff, 0x000000, 0xff8000, 0xffffff, 0xffffff);
    expect([...(await smaller({ width: 4, height: 2, pixels }, 2)).pixels]).toEqual([0x804000, 0xffffff]);
  });

  test('ignores the byte without meaning, and a screen that changes its size meanwhile', async () => {
    const pixels = new Uint32Array(2000 * 1000).fill(0x5a00ff00);
    const source = { width: 2000, height: 1000, pixels };
    const done = smaller(source, 100);
    Object.assign(source, { width: 1, height: 1, pixels: new Uint32Array(1) });
    expect(new Set((await done).pixels)).toEqual(new Set([0x00ff00]));
  });
});
