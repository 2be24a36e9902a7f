import { runForAll } from './run-for-all.js';

describe('runForAll', () => {
  const members = Array.from({ length: 20 }, (_, index) => `vm-${index}`);

  test('answers for each in order; one failure stops nobody', async () => {
    const progress: number[] = [];
    const results = await runForAll(
      members,
      (name) => (name === 'vm-3' ? Promise.reject(new Error('It does not answer.')) : Promise.resolve()),
      { onProgress: (finished) => progress.push(finished) },
    );
    expect(results.map(({ entry }) => entry)).toEqual(members);
    expect(results.filter(({ error }) => error)).toEqual([{ entry: 'vm-3', error: 'It does not answer.' }]);
    expect(progress.at(-1)).toBe(20);
  });

  test('has never more than six under way', async () => {
    let running = 0;
    let most = 0;
    await runForAll(members, async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });
    expect(most).toBe(6);
  });

  test('begins nothing more once it is stopped, and tells only what was done', async () => {
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
