import { act, renderHook } from '@testing-library/react';
import { jest } from '@jest/globals';
import { useSettledBurst } from './use-settled.js';

describe('useSettledBurst', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const pass = (ms: number): void => act(() => jest.advanceTimersByTime(ms));
  const render = (value: string) =>
    renderHook(({ current }) => useSettledBurst(current, 100, ''), { initialProps: { current: value } });

  test('accepts a lone value without a delay', () => {
    const { result, rerender } = render('a');
    expect(result.current).toBe('');
    pass(0);
    expect(result.current).toBe('a');
    pass(100);
    rerender({ current: 'b' });
    pass(0);
    expect(result.current).toBe('b');
  });

  test('waits for the end of quick changes, and accepts only the last one', () => {
    const { result, rerender } = render('a');
    pass(0);
    for (const current of ['b', 'c', 'd']) {
      rerender({ current });
      pass(50);
      expect(result.current).toBe('a');
    }
    pass(50);
    expect(result.current).toBe('d');
  });
});
