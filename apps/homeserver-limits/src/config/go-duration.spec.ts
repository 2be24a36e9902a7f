import { formatGoDuration, parseGoDuration } from './go-duration.js';

describe('durations of Go', () => {
  test.each([
    ['3h59m57.5s', 14_397_500],
    ['100ms', 100],
    ['1.5µs', 0.0015],
    ['-1m', -60_000],
    ['', undefined],
    ['10', undefined],
    ['1d', undefined],
    [7, undefined],
  ])('are read: %j', (text, ms) => expect(parseGoDuration(text)).toBe(ms));

  test.each([
    [14_397_500, '3h59m57.5s'],
    [3_600_000, '1h0m0s'],
    [60_000, '1m0s'],
    [1, '0.001s'],
    [0, '0s'],
    [-1_000, '-1s'],
    [400 * 86_400_000, '9600h0m0s'],
  ])('of %j ms are written as %s', (ms, text) => {
    expect(formatGoDuration(ms)).toBe(text);
    expect(parseGoDuration(text)).toBe(ms);
  });
});
