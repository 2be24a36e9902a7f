import { Readable } from 'node:stream';
import { LengthLimit } from './length-limit.js';

async function through(limit: number, chunks: string[]): Promise<string> {
  let text = '';
  for await (const chunk of Readable.from(chunks.map((chunk) => Buffer.from(chunk))).pipe(new LengthLimit(limit)))
    text += chunk;
  return text;
}

describe('LengthLimit', () => {
  test('passes exactly its limit', async () => expect(await through(4, ['ab', 'cd'])).toBe('abcd'));

  test('fails with M_TOO_LARGE at the first byte beyond it', async () => {
    await expect(through(4, ['ab', 'cd', 'e'])).rejects.toMatchObject({ status: 413, errcode: 'M_TOO_LARGE' });
  });
});
