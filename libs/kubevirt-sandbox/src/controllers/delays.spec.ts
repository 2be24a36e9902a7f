import { type Cancel, ManualClock, SandboxClock } from '@headgate/kube-sandbox';
import { Delays } from './delays.js';

/** A clock whose timers fire a millisecond early, as those of the operating system may. */
class EarlyClock extends SandboxClock {
  readonly inner = new ManualClock();

  now(): number {
    return this.inner.now();
  }

  schedule(callback: () => void, delayMs: number): Cancel {
    return this.inner.schedule(callback, delayMs - 1);
  }

  stop(): void {
    this.inner.stop();
  }
}

describe('Delays', () => {
  test('a step passes when its timer fires, even before the clock shows the due time', () => {
    const clock = new EarlyClock();
    const delays = new Delays(clock);
    const looks: boolean[] = [];
    const look = (): void => void looks.push(delays.passed('uid', 'step', 200, look));
    look();
    clock.inner.advance(500);
    expect(looks).toEqual([false, true]);
  });

  test('a restarted step waits again for its full duration', () => {
    const clock = new ManualClock();
    const delays = new Delays(clock);
    const passed = (): boolean => delays.passed('uid', 'step', 200, () => undefined);
    passed();
    clock.advance(150);
    delays.reset('uid', 'step');
    expect(passed()).toBe(false);
    clock.advance(150);
    expect(passed()).toBe(false);
    clock.advance(50);
    expect(passed()).toBe(true);
  });

  test('a deleted object leaves no timer behind', () => {
    const clock = new ManualClock();
    const delays = new Delays(clock);
    delays.passed('uid', 'step', 200, () => undefined);
    delays.forget('uid');
    expect(clock.untilNext()).toBeUndefined();
  });
});
