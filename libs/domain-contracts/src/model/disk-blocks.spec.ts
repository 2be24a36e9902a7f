import { randomBytes } from 'node:crypto';
import { blocksOf, dataRuns, DISK_BLOCK_BYTES, hashesOf, hashOfZeros, ZERO_RUN_BYTES } from './disk-blocks.js';

const KIB = 1024;

async function* parts(content: Buffer, ...sizes: number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < content.length; turn++) {
    const size = sizes[turn % sizes.length] ?? content.length;
    yield content.subarray(at, at + size);
    at += size;
  }
}

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

describe('the blocks of a disk', () => {
  const content = randomBytes(3 * DISK_BLOCK_BYTES + 5 * KIB);

  test.each([[[1]], [[7 * KIB, 3 * DISK_BLOCK_BYTES]], [[DISK_BLOCK_BYTES]], [[content.length]], [[64 * KIB, 1]]])(
    'are the same, whatever the parts in which the content arrives: %j',
    async (sizes) => {
      const small = sizes[0] === 1 ? content.subarray(0, 70_000) : content;
      const blocks = await all(blocksOf(parts(small, ...sizes)));
      expect(Buffer.concat(blocks).equals(small)).toBe(true);
      for (const block of blocks.slice(0, -1)) expect(block.length).toBe(DISK_BLOCK_BYTES);
    },
  );

  test('of an empty disk are none', async () => {
    expect(await all(blocksOf(parts(Buffer.alloc(0))))).toEqual([]);
  });

  test('have the same hashes as those of a larger disk with the same content', async () => {
    const larger = Buffer.concat([content, Buffer.alloc(2 * DISK_BLOCK_BYTES)]);
    const [hashes, others] = [await all(hashesOf(parts(content))), await all(hashesOf(parts(larger, 100 * KIB)))];
    expect(others.slice(0, hashes.length)).toEqual(hashes);
    expect(new Set(others.slice(hashes.length))).toEqual(new Set([await hashOfZeros()]));
    expect(new Set(hashes).size).toBe(4);
  });

  test('have another hash when one byte differs', async () => {
    const changed = Buffer.from(content);
    changed.writeUInt8(changed.readUInt8(DISK_BLOCK_BYTES + 5) ^ 1, DISK_BLOCK_BYTES + 5);
    const [hashes, others] = [await all(hashesOf(parts(content))), await all(hashesOf(parts(changed)))];
    expect(hashes.map((hash, block) => hash === others[block])).toEqual([true, false, true, true]);
  });

  test('are written without their runs of zeros, and complete each other', () => {
    const block = Buffer.alloc(DISK_BLOCK_BYTES);
    block.fill('a', 10, 20);
    block.fill('b', 5 * ZERO_RUN_BYTES - 1, 6 * ZERO_RUN_BYTES + 1);
    block.fill('c', DISK_BLOCK_BYTES - 1);
    const runs = [...dataRuns(block)];
    expect(runs.map(({ offset, data }) => [offset / ZERO_RUN_BYTES, data.length / ZERO_RUN_BYTES])).toEqual([
      [0, 1],
      [4, 3],
      [15, 1],
    ]);
    const copy = Buffer.alloc(DISK_BLOCK_BYTES);
    for (const { offset, data } of runs) data.copy(copy, offset);
    expect(copy.equals(block)).toBe(true);
  });

  test('of zeros have nothing to write, and neither has the end of a short block', () => {
    expect([...dataRuns(Buffer.alloc(DISK_BLOCK_BYTES))]).toEqual([]);
    const short = Buffer.alloc(ZERO_RUN_BYTES + 512);
    short.fill('a', 0, 5);
    expect([...dataRuns(short)].map(({ data }) => data.length)).toEqual([ZERO_RUN_BYTES]);
  });
});
