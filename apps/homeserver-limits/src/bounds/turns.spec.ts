import { Turns } from './turns.js';

describe('Turns', () => {
  test('run the tasks of a key one after another, and those of other keys meanwhile', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = turns.run('a', async () => {
      log.push('first');
      await gate.promise;
      throw new Error('it failed');
    });
    const second = turns.run('a', async () => log.push('second'));
    await turns.run('b', async () => log.push('other'));
    expect(log).toEqual(['first', 'other']);
    gate.resolve();
    await expect(first).rejects.toThrow('it failed');
    await second;
    expect(log).toEqual(['first', 'other', 'second']);
    expect(turns.size).toBe(0);
  });
});
