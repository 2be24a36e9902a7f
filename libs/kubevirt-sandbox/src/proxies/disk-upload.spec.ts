import { fstatSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { MIB } from '../quantity.js';
import { storeUpload } from './disk-upload.js';
import { SparseFile } from './sparse-file.js';

const never = new AbortController().signal;
const limits = { maxBytes: 256 * MIB, signal: never };
const streamOf = (...chunks: Buffer[]): Readable => Readable.from(chunks, { objectMode: false });
/** The number of open files of this process. */
const openFiles = (): number => readdirSync('/proc/self/fd').length;

describe('storeUpload', () => {
  test.each([0, 1, 2, 3, 65_536, 65_537, 3 * MIB + 1])('keeps %i bytes, raw and packed', async (size) => {
    const data = Buffer.alloc(size, 'disk of mine ');
    for (const stream of [streamOf(data), streamOf(gzipSync(data))]) {
      const content = (await storeUpload(stream, limits)).retain();
      expect(content.size).toBe(size);
      expect((await buffer(content.read())).equals(data)).toBe(true);
      content.release();
    }
  });

  test('recognizes gzip whose first bytes arrive one by one', async () => {
    const packed = gzipSync(Buffer.from('disk of mine'));
    const content = (await storeUpload(streamOf(...[...packed].map((byte) => Buffer.from([byte]))), limits)).retain();
    expect(String(await buffer(content.read()))).toBe('disk of mine');
    expect(String(await buffer(content.read(5, 7)))).toBe('of');
    content.release();
  });

  test('needs no space for zeros, also at the end', async () => {
    const file = new SparseFile();
    const data = Buffer.alloc(96 * MIB);
    data.write('data', 40 * MIB);
    const content = (await storeUpload(streamOf(gzipSync(data, { level: 1 })), { ...limits, file })).retain();
    expect(content.size).toBe(96 * MIB);
    expect(fstatSync(file.descriptor).blocks * 512).toBeLessThan(MIB);
    expect((await buffer(content.read())).equals(data)).toBe(true);
    content.release();
  });

  test('uses a file without a name, which a killed process does not leave behind', () => {
    const file = new SparseFile();
    expect(readlinkSync(`/proc/self/fd/${file.descriptor}`)).toMatch(/headgate-sandbox-disk-.* \(deleted\)$/);
    file.close();
  });

  test('closes the file with its last disk and its last reader', async () => {
    const before = openFiles();
    const content = (await storeUpload(streamOf(Buffer.from('disk of mine')), limits)).retain();
    content.retain();
    content.release();
    const reader = content.read();
    content.release();
    expect(openFiles()).toBe(before + 1);
    expect(String(await buffer(reader))).toBe('disk of mine');
    if (!reader.closed) await new Promise((resolve) => reader.once('close', resolve));
    expect(openFiles()).toBe(before);
  });

  test.each<[string, Readable, RegExp]>([
    [
      'a disk that exceeds its volume',
      streamOf(Buffer.alloc(2 * MIB)),
      /larger than the reported available storage 1048576/,
    ],
    ['a packed one', streamOf(gzipSync(Buffer.alloc(2 * MIB))), /larger than the reported available storage/],
    ['damaged gzip', streamOf(Buffer.from([0x1f, 0x8b, 1, 2, 3])), /unknown compression method/],
    ['incomplete gzip', streamOf(gzipSync(Buffer.from('disk')).subarray(0, 15)), /unexpected end of file/],
  ])('keeps nothing of %s', async (_what, stream, message) => {
    const before = openFiles();
    await expect(storeUpload(stream, { ...limits, maxBytes: MIB })).rejects.toThrow(message);
    expect(openFiles()).toBe(before);
  });

  test.each(['raw', 'packed'])(
    'keeps nothing of a %s upload whose volume is deleted or whose connection breaks',
    async (form) => {
      const data = Buffer.alloc(MIB, 1);
      const start = form === 'raw' ? data : gzipSync(data).subarray(0, 500);
      for (const end of ['delete', 'break'] as const) {
        const before = openFiles();
        const deletion = new AbortController();
        const stream = new PassThrough();
        const stored = expect(storeUpload(stream, { ...limits, signal: deletion.signal })).rejects.toThrow();
        await new Promise<void>((resolve) => stream.write(start, () => resolve()));
        if (end === 'delete') deletion.abort();
        else stream.destroy(new Error('aborted'));
        await stored;
        expect(openFiles()).toBe(before);
      }
    },
  );

  test('reports a full disk, and accepts the next upload', async () => {
    const before = openFiles();
    const file = new SparseFile(openSync('/dev/full', 'r+'));
    await expect(storeUpload(streamOf(Buffer.from('disk')), { ...limits, file })).rejects.toMatchObject({
      code: 'ENOSPC',
    });
    expect(openFiles()).toBe(before);
    (await storeUpload(streamOf(Buffer.from('disk')), limits)).retain().release();
  });
});
