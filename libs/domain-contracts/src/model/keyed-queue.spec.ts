import { KeyedQueue } from './keyed-queue.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('KeyedQueue', () => {
  test('runs work of one key in the order of the calls, and that of others meanwhile', async () => {
    const queue = new KeyedQueue();
    const begun: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = queue.run('a', async () => {
      begun.push('first');
      await gate.promise;
    });
    const rest = ['second', 'third'].map((name) => queue.run('a', async () => void begun.push(name)));
    await queue.run('b', async () => void begun.push('other'));
    await turn();
    expect(begun).toEqual(['first', 'other']);
    gate.resolve();
    await Promise.all([first, ...rest]);
    expect(begun).toEqual(['first', 'other', 'second', 'third']);
  });

  test('begins at once when the key is free', () => {
    const begun: string[] = [];
    void new KeyedQueue().run('a', async () => void begun.push('first'));
    expect(begun).toEqual(['first']);
  });

  test('passes results and errors on, and continues after an error', async () => {
    const queue = new KeyedQueue();
    const failed = queue.run('a', async () => {
      throw new Error('no');
    });
    const thrown = queue.run('b', () => {
      throw new Error('at once');
    });
    const next = queue.run('a', async () => 2);
    await expect(failed).rejects.toThrow('no');
    await expect(thrown).rejects.toThrow('at once');
    await expect(next).resolves.toBe(2);
  });

  test('forgets a key that has no work', async () => {
    const queue = new KeyedQueue();
    const both = [queue.run('a', async () => undefined), queue.run('a', async () => undefined)];
    expect(queue.size).toBe(1);
    await Promise.all(both);
    await turn();
    expect(queue.size).toBe(0);
  });
});
