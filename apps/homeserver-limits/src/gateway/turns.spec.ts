import { Turns } from './turns.js';
import { UpstreamSilent } from './upstream-failure.js';

const turn = () => new Promise((next) => setImmediate(next));

describe('Turns', () => {
  test('lets so many work at a time, and the others in their order', async () => {
    const turns = new Turns(2);
    const ends: (() => void)[] = [];
    const began: number[] = [];
    const all = [1, 2, 3, 4].map((n) =>
      turns.run(10_000, () => {
        began.push(n);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await turn();
    expect(began).toEqual([1, 2]);
    ends[1]!();
    await turn();
    expect(began).toEqual([1, 2, 3]);
    ends[0]!();
    ends[2]!();
    await turn();
    ends[3]!();
    await Promise.all(all);
    expect(began).toEqual([1, 2, 3, 4]);
  });

  test('passes the turn on when the work fails', async () => {
    const turns = new Turns(1);
    await expect(turns.run(10_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await turns.run(10_000, async () => 'done')).toBe('done');
  });

  test('does not let anybody wait for ever', async () => {
    const turns = new Turns(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = turns.run(10_000, () => promise);
    await expect(turns.run(1, async () => 'never')).rejects.toThrow(UpstreamSilent);
    resolve();
    await first;
    expect(await turns.run(10_000, async () => 'free again')).toBe('free again');
  });
});
