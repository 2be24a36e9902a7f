import { hasValues, largestValue, linePath, nearestSample } from './chart-lines.js';

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

test('the scale fits every line, and is never zero', () => {
  const series = [{ label: 'a', values: [null, 3] }, { label: 'b', values: [7, null] }]; // prettier-ignore
  expect(largestValue(series, 5)).toBe(7);
  expect(largestValue(series, 9)).toBe(9);
  expect(largestValue([], 0)).toBe(1);
  expect(hasValues(series)).toBe(true);
  expect(hasValues([{ label: 'a', values: [null] }])).toBe(false);
});

test('the sample under the pointer is the nearest one', () => {
  expect([-5, 0, 40, 60, 200].map((time) => nearestSample([0, 50, 100], time))).toEqual([0, 0, 1, 1, 2]);
  expect(nearestSample([], 5)).toBe(0);
});
