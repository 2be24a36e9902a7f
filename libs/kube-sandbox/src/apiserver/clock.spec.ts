import { ManualClock } from './clock.js';

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
