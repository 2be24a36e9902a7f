import { gapsOf, withoutZeros } from './zero-parts.js';

describe('parts of zeros', () => {
  const asked: number[] = [];
  const read = withoutZeros(
    [
      { offset: 10, length: 10 },
      { offset: 40, length: 20 },
    ],
    async (offset, length) => {
      asked.push(offset);
      return Buffer.alloc(length, 1);
    },
  );
  beforeEach(() => void asked.splice(0));

  test.each([
    [10, 10],
    [12, 3],
    [40, 20],
    [59, 1],
  ])('are not asked for: %i and %i bytes', async (offset, length) => {
    expect([...(await read(offset, length))]).toEqual(Array(length).fill(0));
    expect(asked).toEqual([]);
  });

  test.each([
    [0, 10],
    [9, 2],
    [15, 10],
    [20, 20],
    [0, 100],
    [60, 1],
  ])('are asked for when others are among them: %i and %i bytes', async (offset, length) => {
    expect([...(await read(offset, length))]).toEqual(Array(length).fill(1));
    expect(asked).toEqual([offset]);
  });
});

describe('gaps', () => {
  test.each([
    [[], [[0, 100]]],
    [[[0, 100]], []],
    [[[0, 10]], [[10, 90]]],
    [
      [
        [10, 10],
        [20, 5],
        [60, 40],
      ],
      [
        [0, 10],
        [25, 35],
      ],
    ],
  ])('are the parts between others: %j', (extents, expected) => {
    const given = extents.map(([offset = 0, length = 0]) => ({ offset, length }));
    expect(gapsOf(given, 100).map(({ offset, length }) => [offset, length])).toEqual(expected);
  });
});
