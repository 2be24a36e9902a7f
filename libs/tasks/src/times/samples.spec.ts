import { MAX_SAMPLES, Samples } from './samples.js';

describe('Samples', () => {
  const of = (...seconds: readonly number[]): Samples => {
    const samples = new Samples();
    for (const one of seconds) samples.add(one);
    return samples;
  };

  test('have no range before the first one', () => {
    expect(of().range).toBeUndefined();
  });

  test('range from the shortest to the longest of a few, in tenths of a second', () => {
    expect(of(4.01).range).toEqual({ low: 4, high: 4.1, measured: 1 });
    expect(of(4, 2.38, 3).range).toEqual({ low: 2.3, high: 4, measured: 3 });
    expect(of(0.004).range).toEqual({ low: 0, high: 0.1, measured: 1 });
  });

  test('leave one in ten out at each end', () => {
    expect(of(2, 3, 4, 5, 60).range).toEqual({ low: 2, high: 60, measured: 5 });
    expect(of(0, 2, 3, 3, 3, 3, 3, 3, 4, 600).range).toEqual({ low: 2, high: 4, measured: 10 });
  });

  test('keep the last ones', () => {
    const samples = of(100, ...Array.from({ length: MAX_SAMPLES }, () => 3));
    expect(samples.range).toEqual({ low: 3, high: 3, measured: MAX_SAMPLES });
  });

  test('leave out what can not have been measured correctly', () => {
    expect(of(-1, Number.NaN, Infinity, 8 * 86_400, 5).range).toEqual({ low: 5, high: 5, measured: 1 });
  });
});
