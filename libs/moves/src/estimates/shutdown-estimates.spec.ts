import { MemoryShutdownTimes } from '@headgate/testing';
import { ShutdownEstimates } from './shutdown-estimates.js';

describe('the shutdown of a guest', () => {
  let times: MemoryShutdownTimes;
  beforeEach(() => (times = new MemoryShutdownTimes()));
  /** As after a restart. */
  const estimates = (): ShutdownEstimates => new ShutdownEstimates(times);

  test.each([
    [undefined, 10],
    ['debian12', 8],
    ['win11', 25],
  ])('of the system %s is guessed, with far bounds, until one was measured', (os, seconds) => {
    const guest = { uid: 'a', ...(os !== undefined && { os }) };
    expect(estimates().of(guest)).toEqual({ seconds, minSeconds: 1, maxSeconds: 60, basis: 'guessed' });
  });

  test('takes as long as before, and that of other guests with its system as well, probably', () => {
    estimates().record({ uid: 'a', os: 'debian12' }, 2400.4);
    const measured = estimates().of({ uid: 'a', os: 'debian12' });
    expect(measured).toEqual({ seconds: 2.4, minSeconds: 1.92, maxSeconds: 2.88, basis: 'measured' });
    expect(estimates().of({ uid: 'b', os: 'debian12' })).toEqual({
      seconds: 2.4,
      minSeconds: 1,
      maxSeconds: 60,
      basis: 'similar',
    });
    expect(estimates().of({ uid: 'b' })).toMatchObject({ basis: 'guessed' });
    expect(estimates().of({ uid: 'b', os: 'win11' })).toMatchObject({ seconds: 25, basis: 'guessed' });
    estimates().record({ uid: 'a' }, 5000);
    expect(estimates().of({ uid: 'a' })).toMatchObject({ seconds: 5 });
  });

  test('is remembered for the copy, unless that was measured itself', () => {
    estimates().record({ uid: 'a' }, 2000);
    estimates().carryOver('a', 'b');
    estimates().carryOver('none', 'c');
    expect(['b', 'c'].map((uid) => estimates().of({ uid }).basis)).toEqual(['measured', 'guessed']);
    estimates().record({ uid: 'b' }, 7000);
    estimates().carryOver('a', 'b');
    expect(estimates().of({ uid: 'b' }).seconds).toBe(7);
  });

  test('does not fail a move when it can not be recorded', () => {
    times.record('vm/a', 2000);
    times.record = () => {
      throw new Error('The disk is full.');
    };
    expect(() => estimates().record({ uid: 'a' }, 3000)).not.toThrow();
    expect(() => estimates().carryOver('a', 'b')).not.toThrow();
    expect(estimates().of({ uid: 'a' }).seconds).toBe(2);
  });
});
