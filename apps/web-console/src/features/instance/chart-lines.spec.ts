import { bandPath, hasValues, largestValue, linePath, nearestSample } from './chart-lines.js';

const area = { width: 100, height: 10, from: 0, to: 100_000, max: 10 };

describe('linePath', () => {
  test('scales the time to the width and the values to the height', () => {
    expect(linePath([0, 50_000, 100_000], [0, 5, 10], area)).toBe('M0 10h0L50 5L100 0');
  });

  test('interrupts the line where a value is unknown, and where samples are missing', () => {
    expect(linePath([0, 10_000, 20_000, 30_000], [1, null, 1, 2], area)).toBe('M0 9h0M20 9h0L30 8');
    expect(linePath([0, 60_001], [1, 1], area)).toBe('M0 9h0M60 9h0');
  });

  test('leaves out what lies before the area, and cuts off what exceeds it', () => {
    expect(linePath([-1, 0], [1, 20], area)).toBe('M0 0h0');
    expect(linePath([], [], area)).toBe('');
  });
});

describe('bandPath', () => {
  test('is the closed area from the averages to the maxima', () => {
    expect(bandPath([0, 50_000, 100_000], [0, 5, 5], [10, 5, 20], area)).toBe('M0 0L50 5L100 0L100 5L50 5L0 10Z');
  });

  test('is interrupted where a step is missing or unknown', () => {
    expect(bandPath([0, 10_000, 20_000], [1, null, 1], [2, 2, 2], area)).toBe('M0 8L0 9ZM20 8L20 9Z');
    expect(bandPath([0, 30_000, 90_000], [1, 1, 1], [2, 2, 2], { ...area, maxGapMs: 30_000 })).toBe(
      'M0 8L30 8L30 9L0 9ZM90 8L90 9Z',
    );
  });
});

test('a chart of longer steps is not interrupted between two of them', () => {
  const wide = { ...area, to: 1_000_000 };
  expect(linePath([0, 180_000], [1, 1], wide)).toBe('M0 9h0M18 9h0');
  expect(linePath([0, 180_000, 540_000], [1, 1, 1], { ...wide, maxGapMs: 180_000 })).toBe('M0 9h0L18 9M54 9h0');
});

test('the scale fits every line, and is never zero', () => {
  const series = [{ label: 'a', values: [null, 3] }, { label: 'b', values: [7, null] }]; // prettier-ignore
  expect(largestValue(series, 5)).toBe(7);
  expect(largestValue(series, 9)).toBe(9);
  expect(largestValue([{ ...series[0]!, maxima: [null, 8] }], 5)).toBe(8);
  expect(largestValue([], 0)).toBe(1);
  expect(hasValues(series)).toBe(true);
  expect(hasValues([{ label: 'a', values: [null] }])).toBe(false);
});

test('the sample under the pointer is the nearest one', () => {
  expect([-5, 0, 40, 60, 200].map((time) => nearestSample([0, 50, 100], time))).toEqual([0, 0, 1, 1, 2]);
  expect(nearestSample([], 5)).toBe(0);
});
