import { jest } from '@jest/globals';
import { ManualClock, RealClock } from './clock.js';

describe('ManualClock', () => {
  test('runs due callbacks in order of time, then of scheduling', () => {
    const clock = new ManualClock();
    const ran: string[] = [];
    clock.schedule(() => ran.push('late'), 20);
    clock.schedule(() => ran.push('first'), 10);
    clock.schedule(() => ran.push('second'), 10);
    clock.advance(15);
    expect(ran).toEqual(['first', 'second']);
    clock.advance(5);
    expect(ran).toEqual(['first', 'second', 'late']);
  });

  test('runs callbacks that are scheduled within the span, at their own time', () => {
    const clock = new ManualClock(0);
    const times: number[] = [];
    clock.schedule(() => clock.schedule(() => times.push(clock.now()), 5), 10);
    clock.advance(100);
    expect([times, clock.now()]).toEqual([[15], 100]);
  });

  test('ends callbacks that schedule each other for the same moment without end', () => {
    const clock = new ManualClock();
    const again = (): void => void clock.schedule(again, 0);
    again();
    expect(() => clock.advance(1)).toThrow('without any time passing');
  });

  test('never runs canceled callbacks', () => {
    const clock = new ManualClock();
    const cancel = clock.schedule(() => expect(true).toBe(false), 1);
    cancel();
    clock.advance(10);
    expect(clock.untilNext()).toBeUndefined();
  });

  test('repeats until it is canceled', () => {
    const clock = new ManualClock();
    let count = 0;
    const cancel = clock.repeat(() => count++, 10);
    clock.advance(35);
    cancel();
    clock.advance(100);
    expect(count).toBe(3);
  });
});

describe('RealClock', () => {
  const DAY_MS = 86_400_000;

  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test('waits for delays that are longer than the longest timer of Node', () => {
    const clock = new RealClock();
    let calls = 0;
    clock.schedule(() => calls++, 40 * DAY_MS);
    jest.advanceTimersByTime(39 * DAY_MS);
    expect(calls).toBe(0);
    jest.advanceTimersByTime(DAY_MS);
    expect(calls).toBe(1);
  });

  test('cancels a long delay in any part of it', () => {
    const clock = new RealClock();
    let calls = 0;
    const cancel = clock.schedule(() => calls++, 40 * DAY_MS);
    jest.advanceTimersByTime(30 * DAY_MS);
    cancel();
    jest.advanceTimersByTime(30 * DAY_MS);
    expect(calls).toBe(0);
  });
});
