import { FixedClock } from '@headgate/testing';
import { waitUntil } from './wait-until.js';

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

describe('waitUntil', () => {
  /** A clock that an operator corrects while it runs. */
  class CorrectedClock extends FixedClock {
    offset = 0;
    override now(): number {
      return super.now() + this.offset;
    }
  }

  const begin = (clock: FixedClock, at: number) => {
    const abort = new AbortController();
    const state = { isOver: false, abort };
    void waitUntil(at, clock, abort.signal).then(() => (state.isOver = true));
    return state;
  };

  test('waits for a time that is further away than one timer lasts', async () => {
    const clock = new FixedClock(0);
    const wait = begin(clock, 3 * 24 * 3_600_000);
    for (let hour = 1; hour <= 71; hour++) {
      clock.advance(3_600_000);
      await settled();
    }
    expect(wait.isOver).toBe(false);
    clock.advance(3_600_000);
    await settled();
    expect([wait.isOver, clock.pending]).toEqual([true, 0]);
  });

  test('follows a clock that is corrected meanwhile, in both directions', async () => {
    const clock = new CorrectedClock(0);
    const wait = begin(clock, 600_000);
    clock.offset = -3_600_000;
    clock.advance(600_000);
    await settled();
    expect(wait.isOver).toBe(false);
    clock.offset = 0;
    clock.advance(60_000);
    await settled();
    expect(wait.isOver).toBe(true);
  });

  test('ends when it is aborted, and leaves no timer', async () => {
    const clock = new FixedClock(0);
    const wait = begin(clock, 600_000);
    wait.abort.abort();
    await settled();
    expect([wait.isOver, clock.pending]).toEqual([true, 0]);
  });
});
