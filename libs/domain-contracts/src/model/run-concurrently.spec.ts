import { runConcurrently } from './run-concurrently.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('runConcurrently', () => {
  test('works on each item once, in order, with no more than the limit at a time', async () => {
    const seen: number[] = [];
    let [running, most] = [0, 0];
    await runConcurrently([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      most = Math.max(most, ++running);
      seen.push(item);
      await turn();
      running--;
    });
    expect([seen, most, running]).toEqual([[1, 2, 3, 4, 5, 6, 7], 3, 0]);
  });

  test('needs no items', async () => {
    await expect(runConcurrently([], 4, turn)).resolves.toBeUndefined();
  });

  test('fails with the first error', async () => {
    const work = async (item: number): Promise<void> => {
      if (item === 2) throw new Error('no');
    };
    await expect(runConcurrently([1, 2, 3], 1, work)).rejects.toThrow('no');
  });
});
