import { PassThrough } from 'node:stream';
import { readUntil } from './read-until.js';

describe('readUntil', () => {
  test('returns everything that was read, over several chunks', async () => {
    const stream = new PassThrough();
    const found = readUntil(stream, /login:/);
    stream.write('log');
    stream.write('in: ');
    expect(await found).toBe('login: ');
  });

  test('fails with the data that was read if the stream ends before', async () => {
    const stream = new PassThrough();
    stream.end('Boot failed');
    await expect(readUntil(stream, /login:/)).rejects.toThrow('Boot failed');
  });
});
