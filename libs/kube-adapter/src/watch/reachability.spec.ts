import { DomainError } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { Reachability } from './reachability.js';

const unreachable = new DomainError('BACKEND_UNREACHABLE', 'unreachable');

/** A Reachability whose probes the test settles. */
function open() {
  const clock = new FixedClock();
  const reported: string[] = [];
  const probes: { answer: () => void; fail: (error?: DomainError) => void; timeoutMs: number }[] = [];
  const probe = (timeoutMs: number): Promise<void> =>
    new Promise((resolve, reject) =>
      probes.push({ answer: resolve, fail: (error = unreachable) => reject(error), timeoutMs }),
    );
  const reachability = new Reachability(probe, clock, () => 1);
  const unlisten = reachability.listen({ up: () => reported.push('up'), lost: ({ code }) => reported.push(code) });
  const settle = async (how: 'answer' | 'fail'): Promise<void> => {
    probes.at(-1)?.[how]();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { clock, reported, probes, reachability, unlisten, settle };
}

describe('Reachability', () => {
  test('probes immediately and reports the first answer', async () => {
    const { reported, probes, settle } = open();
    expect(probes).toHaveLength(1);
    await settle('answer');
    expect(reported).toEqual(['up']);
  });

  test('probes after a silence, and notices a loss within 10 s', async () => {
    const { clock, reported, probes, settle } = open();
    await settle('answer');
    clock.advance(2_500);
    expect(probes).toHaveLength(2);
    expect(2_500 + (probes[1]?.timeoutMs ?? 0)).toBeLessThan(10_000);
    await settle('fail');
    expect(reported).toEqual(['up', 'BACKEND_UNREACHABLE']);
  });

  test('does not probe while watches receive data', async () => {
    const { clock, probes, reachability, settle } = open();
    await settle('answer');
    for (let second = 0; second < 20; second++) {
      clock.advance(1_000);
      reachability.recordActivity();
    }
    expect(probes).toHaveLength(1);
  });

  test('notices the return within 5 s, and reports the loss and the return once each', async () => {
    const { clock, reported, probes, settle } = open();
    await settle('answer');
    clock.advance(2_500);
    for (let attempt = 0; attempt < 8; attempt++) {
      await settle('fail');
      clock.advance(1_500);
    }
    expect(1_500 + (probes.at(-1)?.timeoutMs ?? 0)).toBeLessThan(5_000);
    await settle('answer');
    expect(reported).toEqual(['up', 'BACKEND_UNREACHABLE', 'up']);
  });

  test('reports the error of the latest probe to a listener that comes while the server is lost', async () => {
    const { clock, reported, probes, reachability, settle } = open();
    await settle('fail');
    clock.advance(1_500);
    probes.at(-1)?.fail(new DomainError('BACKEND_TIMEOUT', 'silent'));
    await Promise.resolve();
    await Promise.resolve();
    expect(reported).toEqual(['BACKEND_UNREACHABLE']);
    const errors: DomainError[] = [];
    const unlisten = reachability.listen({ up: () => undefined, lost: (error) => errors.push(error) });
    expect(errors).toMatchObject([{ code: 'BACKEND_UNREACHABLE', message: 'silent' }]);
    unlisten();
  });

  test('aborts pending requests with the error of each loss, once', async () => {
    const { clock, reachability, settle } = open();
    const first = reachability.signal;
    await settle('fail');
    expect([first.aborted, first.reason]).toEqual([true, expect.objectContaining({ code: 'BACKEND_UNREACHABLE' })]);
    const second = reachability.signal;
    clock.advance(1_500);
    await settle('fail');
    expect(second.aborted).toBe(false);
    clock.advance(1_500);
    await settle('answer');
    clock.advance(2_500);
    await settle('fail');
    expect(second.aborted).toBe(true);
  });

  test('probes immediately after another failure', async () => {
    const { probes, reachability, settle } = open();
    await settle('answer');
    reachability.probeNow();
    expect(probes).toHaveLength(2);
  });

  test('lets callers wait until the server is up', async () => {
    const { reachability, settle } = open();
    let up = false;
    const waiting = reachability.whenUp().then(() => (up = true));
    expect(up).toBe(false);
    await settle('answer');
    await waiting;
    expect(up).toBe(true);
  });

  test('stops probing without a listener', async () => {
    const { clock, unlisten, probes, settle } = open();
    await settle('answer');
    unlisten();
    clock.advance(60_000);
    expect(probes).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});
