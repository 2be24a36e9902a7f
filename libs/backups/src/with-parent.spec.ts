import { randomBytes } from 'node:crypto';
import { ParentUnreadable, withParent } from './with-parent.js';

const SIZE = 1000;

describe('a reading with only the changes of a disk', () => {
  const former = randomBytes(SIZE);
  const changed = [
    { offset: 0, length: 10 },
    { offset: 100, length: 50 },
    { offset: 150, length: 1 },
    { offset: 300, length: 300 },
    { offset: 990, length: 210 },
  ];
  const present = Buffer.concat([former, Buffer.alloc(500)]);
  for (const { offset, length } of changed) randomBytes(length).copy(present, offset);
  const asked: [number, number][] = [];
  const fileOf = (content: Buffer) => ({
    sizeBytes: content.length,
    read: async (offset: number, length: number) => content.subarray(offset, offset + length),
  });
  const disk = {
    changed,
    read: async (offset: number, length: number) => {
      asked.push([offset, length]);
      return present.subarray(offset, offset + length);
    },
  };
  beforeEach(() => void asked.splice(0));

  test.each([
    [0, 1500],
    [0, 1],
    [10, 90],
    [5, 100],
    [99, 53],
    [120, 10],
    [149, 3],
    [299, 302],
    [350, 50],
    [980, 20],
    [980, 500],
    [1199, 2],
    [1300, 200],
    [200, 0],
  ])('is completed by the former backup: %i and %i bytes', async (offset, length) => {
    const bytes = await withParent(disk, fileOf(former))(offset, length);
    expect(bytes.equals(present.subarray(offset, offset + length))).toBe(true);
    for (const [from, bytes] of asked)
      expect(changed.some((one) => one.offset <= from && from + bytes <= one.offset + one.length)).toBe(true);
  });

  test.each([
    ['is damaged', { sizeBytes: SIZE, read: () => Promise.reject(new Error('damaged')) }],
    ['is shorter than it should be', { sizeBytes: SIZE, read: async () => Buffer.alloc(3) }],
  ])('says so when the former backup %s, but reads changed parts', async (_what, parent) => {
    const read = withParent(disk, parent);
    await expect(read(5, 50)).rejects.toBeInstanceOf(ParentUnreadable);
    expect(await read(300, 300)).toHaveLength(300);
  });
});
