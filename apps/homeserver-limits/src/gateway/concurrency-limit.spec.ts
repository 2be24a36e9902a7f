import { UpstreamTimeout } from '@headgate/http-relay';
import { ConcurrencyLimit } from './concurrency-limit.js';

const nextTurn = () => new Promise((next) => setImmediate(next));

describe('ConcurrencyLimit', () => {
  test('runs up to its limit of tasks at a time, and the others in order', async () => {
    const limit = new ConcurrencyLimit(2);
    const finish: (() => void)[] = [];
    const started: number[] = [];
    const all = [1, 2, 3, 4].map((n) =>
      limit.run(10_000, () => {
        started.push(n);
        return new Promise<void>((resolve) => finish.push(resolve));
      }),
    );
    await nextTurn();
    expect(started).toEqual([1, 2]);
    finish[1]!();
    await nextTurn();
    expect(started).toEqual([1, 2, 3]);
    finish[0]!();
    finish[2]!();
    await nextTurn();
    finish[3]!();
    await Promise.all(all);
    expect(started).toEqual([1, 2, 3, 4]);
  });

  test('starts the next task when one fails', async () => {
    const limit = new ConcurrencyLimit(1);
    await expect(limit.run(10_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await limit.run(10_000, async () => 'done')).toBe('done');
  });

  test('fails a task that waits for too long', async () => {
    const limit = new ConcurrencyLimit(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = limit.run(10_000, () => promise);
    await expect(limit.run(1, async () => 'never')).rejects.toThrow(UpstreamTimeout);
    resolve();
    await first;
    expect(await limit.run(10_000, async () => 'free again')).toBe('free again');
  });
});
