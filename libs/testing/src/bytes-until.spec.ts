import { PassThrough } from 'node:stream';
import { bytesUntil } from './bytes-until.js';

describe('bytesUntil', () => {
  test('answers all that came, over several pieces', async () => {
    const stream = new PassThrough();
    const found = bytesUntil(stream, /login:/);
    stream.write('log');
    stream.write('in: ');
    expect(await found).toBe('login: ');
  });

  test('fails with what came when the stream ends before', async () => {
    const stream = new PassThrough();
    stream.end('Boot failed');
    await expect(bytesUntil(stream, /login:/)).rejects.toThrow('Boot failed');
  });
});
