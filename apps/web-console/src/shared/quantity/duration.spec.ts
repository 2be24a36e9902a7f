import { readableEstimate, readablePromise, readableRange, readableSeconds } from './duration.js';

describe('durations', () => {
  test.each([
    [0.2, '1 s'],
    [3, '3 s'],
    [89, '89 s'],
    [121, '3 min'],
    [5399, '90 min'],
    [9000, '2.5 h'],
    [7200, '2 h'],
  ])('%s seconds read as %s', (seconds, text) => {
    expect(readableSeconds(seconds)).toBe(text);
  });

  test.each([
    [0, 0.1, 'less than 1 s'],
    [0.4, 3.2, 'up to 4 s'],
    [2.1, 3.7, '2 to 4 s'],
    [4, 4, '4 s'],
    [100, 200, '1 to 4 min'],
    [12, 200, 'up to 4 min'],
    [180, 180, '3 min'],
    [5400, 9000, '1.5 to 2.5 h'],
    [70, 80.5, '70 to 81 s'],
  ])('%s to %s seconds read as %s', (low, high, text) => {
    expect(readableRange({ low, high })).toBe(text);
  });

  test('say from how many runs they come', () => {
    const range = { low: 2, high: 4 };
    expect(readableEstimate({ ...range, measured: 1 })).toBe('2 to 4 s, measured once');
    expect(readableEstimate({ ...range, measured: 2 })).toBe('2 to 4 s, measured twice');
    expect(readableEstimate({ ...range, measured: 12 })).toBe('2 to 4 s, measured 12 times');
  });

  test('compare the promise with the measured time, where they are known', () => {
    const promised = { low: 2, high: 4, measured: 12 };
    expect(readablePromise(promised, 3.2)).toBe('promised 2 to 4 s, took 3 s');
    expect(readablePromise(undefined, 0.4)).toBe('took less than 1 s');
    expect(readablePromise(promised, 100)).toBe('promised 2 to 4 s, took 2 min');
    expect(readablePromise(promised, undefined)).toBe('promised 2 to 4 s');
    expect(readablePromise(undefined, undefined)).toBe('');
  });
});
