import { fromCompact, toCompact } from './compact-number.js';

const stored = (value: number): number => fromCompact(toCompact(value));

test('small integers and round sizes are exact', () => {
  for (let value = 0; value <= 2048; value++) expect(stored(value)).toBe(value);
  for (const gib of [0.5, 1, 3, 6, 96, 1536]) expect(stored(gib * 1024 ** 3)).toBe(gib * 1024 ** 3);
});

test('other numbers are off by at most 0.05 percent', () => {
  for (let value = 1.37; value < 2 ** 61; value *= 1.37)
    expect(Math.abs(stored(value) / value - 1)).toBeLessThan(value < 2048 ? 0.5 / value + 1e-9 : 0.0005);
});

test('negative numbers are unknown, and a number beyond all bounds is the largest one', () => {
  expect([NaN, -1, stored(NaN)].map(stored)).toEqual([NaN, NaN, NaN]);
  expect(stored(Infinity)).toBe(stored(Number.MAX_VALUE));
  expect(stored(Number.MAX_VALUE)).toBe(2 ** 62);
});
