import { CARDS, LINES, poolSize, rowWindow, scrollTo } from './row-window.js';

describe('rowWindow', () => {
  test('contains the visible rows and some more on both sides', () => {
    const { first, end } = rowWindow(100, 20, 10_000);
    expect(first).toBeLessThanOrEqual(92);
    expect(end).toBeGreaterThanOrEqual(128);
  });

  test.each([0, 1, 2, 3, 57, 9_979, 9_990])('always has the same number of rows, here at row %d', (top) => {
    const { first, end } = rowWindow(top, 20, 10_000);
    expect(end - first).toBe(poolSize(20));
    expect(first).toBeGreaterThanOrEqual(0);
    expect(end).toBeLessThanOrEqual(10_000);
  });

  test('contains all rows of a short list at any scroll position', () => {
    expect(rowWindow(0, 20, 10)).toEqual({ first: 0, end: 10 });
    expect(rowWindow(500, 20, 10)).toEqual({ first: 0, end: 10 });
    expect(rowWindow(0, 20, 0)).toEqual({ first: 0, end: 0 });
  });

  test('does not change within a step', () => expect(rowWindow(101, 20, 1000)).toEqual(rowWindow(102, 20, 1000)));
});

describe.each([
  ['lines', LINES],
  ['cards', CARDS],
])('in %s', (_name, layout) => {
  const { rowPx, headPx } = layout;
  test.each([
    ['above the visible area', 3, 3 * rowPx],
    ['below it', 30, 31 * rowPx - 360],
    ['in the visible area', 12, undefined],
  ])('scrolls to a row %s', (_where, index, expected) =>
    expect(scrollTo(index, 10 * rowPx, 360 + headPx, layout)).toBe(expected),
  );
});
