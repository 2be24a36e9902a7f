import { poolSize, ROW_HEIGHT, rowWindow, scrollTo } from './row-window.js';

describe('rowWindow', () => {
  test('holds what is in sight and some rows on both sides', () => {
    const { first, end } = rowWindow(100, 20, 10_000);
    expect(first).toBeLessThanOrEqual(92);
    expect(end).toBeGreaterThanOrEqual(128);
  });

  test.each([0, 1, 2, 3, 57, 9_979, 9_990])('has always as many rows, at row %d too', (top) => {
    const { first, end } = rowWindow(top, 20, 10_000);
    expect(end - first).toBe(poolSize(20));
    expect(first).toBeGreaterThanOrEqual(0);
    expect(end).toBeLessThanOrEqual(10_000);
  });

  test('is the whole of a short list, wherever the scroller still stands', () => {
    expect(rowWindow(0, 20, 10)).toEqual({ first: 0, end: 10 });
    expect(rowWindow(500, 20, 10)).toEqual({ first: 0, end: 10 });
    expect(rowWindow(0, 20, 0)).toEqual({ first: 0, end: 0 });
  });

  test('stays as it is within a step', () => expect(rowWindow(101, 20, 1000)).toEqual(rowWindow(102, 20, 1000)));
});

test.each([
  ['above what is in sight', 3, 10 * ROW_HEIGHT, 3 * ROW_HEIGHT],
  ['below it', 30, 10 * ROW_HEIGHT, 31 * ROW_HEIGHT - 360],
  ['in sight', 12, 10 * ROW_HEIGHT, undefined],
])('a row %s is scrolled to', (_where, index, scrollTop, expected) =>
  expect(scrollTo(index, scrollTop, 360)).toBe(expected),
);
