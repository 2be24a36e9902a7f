import { runForAll } from './run-for-all.js';

describe('runForAll', () => {
  const members = Array.from({ length: 20 }, (_, index) => `vm-${index}`);

  test('returns the results in order, and continues after a failure', async () => {
    const progress: number[] = [];
    const results = await runForAll(
      members,
      (name) => (name === 'vm-3' ? Promise.reject(new Error('It does not respond.')) : Promise.resolve()),
      { onProgress: (finished) => progress.push(finished) },
    );
    expect(results.map(({ entry }) => entry)).toEqual(members);
    expect(results.filter(({ error }) => error)).toEqual([{ entry: 'vm-3', error: 'It does not respond.' }]);
    expect(progress.at(-1)).toBe(20);
  });

  test('never runs more than six at once', async () => {
    let running = 0;
    let peak = 0;
    await runForAll(members, async () => {
      peak = Math.max(peak, ++running);
      await Promise.resolve();
      running--;
    });
    expect(peak).toBe(6);
  });

  test('starts nothing more once it is stopped, and returns only actual results', async () => {
    const stop = new AbortController();
    const results = await runForAll(
      members,
      (name) => {
        if (name === 'vm-7') stop.abort();
        return Promise.resolve();
      },
      { signal: stop.signal },
    );
    expect(results.length).toBeGreaterThanOrEqual(8);
    expect(results.length).toBeLessThan(20);
  });
});
