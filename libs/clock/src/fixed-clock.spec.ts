import { FixedClock } from './fixed-clock.js';

describe('FixedClock', () => {
  test('runs timers in the order of their due times, each at its own time', () => {
    const clock = new FixedClock(0);
    const seen: [string, number][] = [];
    clock.after(20, () => seen.push(['b', clock.now()]));
    clock.after(10, () => {
      seen.push(['a', clock.now()]);
      clock.after(5, () => seen.push(['c', clock.now()]));
    });
    clock.advance(30);
    expect(seen).toEqual([
      ['a', 10],
      ['c', 15],
      ['b', 20],
    ]);
    expect(clock.now()).toBe(30);
  });

  test('repeats until it is stopped', () => {
    const clock = new FixedClock(0);
    let count = 0;
    const stop = clock.every(10, () => count++);
    clock.advance(35);
    stop();
    clock.advance(100);
    expect(count).toBe(3);
    expect(clock.pending).toBe(0);
  });
});
