import { loadSum } from './pseudo-load.js';

describe('loadSum', () => {
  test('begins with zero and grows with every second', () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      expect(loadSum(id, 0)).toBe(0);
      let last = 0;
      for (let second = 1; second < 4000; second += 7) {
        const sum = loadSum(id, second);
        expect(sum).toBeGreaterThan(last);
        last = sum;
      }
    }
  });
});
