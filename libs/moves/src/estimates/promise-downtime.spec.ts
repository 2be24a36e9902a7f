import { FixedClock } from '@headgate/testing';
import { PaceMeter, type Pace } from './pace.js';
import { promiseDowntime, type LastRound } from './promise-downtime.js';

const MIB = 1024 ** 2;

describe('the promised downtime', () => {
  const clock = new FixedClock();
  const measured = async (
    works: readonly (readonly ['copy' | 'compare' | 'open', amount: number, ms: number])[],
  ): Promise<Pace> => {
    const meter = new PaceMeter(clock);
    for (const [work, amount, ms] of works)
      await meter.measure(
        work,
        async () => clock.advance(ms),
        () => amount,
      );
    return meter.pace;
  };
  const promise = (more: Partial<LastRound> = {}): { seconds: number; text: string } =>
    promiseDowntime(
      {
        disks: 1,
        lastBytes: 0,
        touchedBytes: 0,
        wholeBytes: 0,
        pace: undefined,
        shutdown: { seconds: 2, minSeconds: 1.6, maxSeconds: 2.4, basis: 'measured' },
        ...more,
      },
      clock,
    );

  test('is the shutdown and little more when nothing is left', () => {
    expect(promise()).toEqual({
      seconds: 3.1,
      text: expect.stringMatching(/3\.1 s: 2 s to shut down, as before, and 1\.1 s/),
    });
  });

  test('says when the shutdown was never measured', () => {
    const shutdown = { seconds: 10, minSeconds: 1, maxSeconds: 60, basis: 'guessed' } as const;
    expect(promise({ shutdown }).text).toMatch(/perhaps 10 s to shut down, which was never measured/);
  });

  test('is that of the work that was measured while the guest ran, over all rounds', async () => {
    const pace = await measured([
      ['copy', 100 * MIB, 500],
      ['copy', 100 * MIB, 1500],
      ['compare', 300 * MIB, 1000],
      ['open', 1, 100],
      ['open', 1, 300],
    ]);
    // 2 s of shutdown, 0.3 s to commit, 4 openings of 0.2 s, 20 MiB at 100 MiB/s, and both ends of 60 MiB at 300 MiB/s.
    expect(promise({ pace, lastBytes: 20 * MIB, touchedBytes: 60 * MIB }).seconds).toBe(3.7);
    const journaled = JSON.parse(JSON.stringify(pace)) as Pace;
    expect(promise({ pace: journaled, lastBytes: 20 * MIB, touchedBytes: 60 * MIB }).seconds).toBe(3.7);
  });

  test('counts disks that have to be compared as a whole twice, at both ends', async () => {
    const pace = await measured([['compare', 400 * MIB, 1000]]);
    expect(promise({ pace, wholeBytes: 1000 * MIB }).seconds - promise({ pace }).seconds).toBeCloseTo(10, 5);
  });

  test('does not depend on measurements that are too small', async () => {
    const pace = await measured([
      ['copy', 4096, 1000],
      ['compare', 100 * MIB, 0],
    ]);
    const rest = { lastBytes: 60 * MIB, touchedBytes: 60 * MIB };
    expect(promise({ pace, ...rest }).seconds).toBe(promise(rest).seconds);
  });
});
