import { Backoff } from './backoff.js';

describe('Backoff', () => {
  test('doubles up to its limit and starts over after a success', () => {
    const backoff = new Backoff(100, 500, () => 1);
    expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([100, 200, 400, 500]);
    backoff.reset();
    expect(backoff.next()).toBe(100);
  });

  test('shortens a pause to half of it at most', () => {
    expect(new Backoff(100, 500, () => 0).next()).toBe(50);
  });
});
