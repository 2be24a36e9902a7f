import { CapExceeded, RateExceeded } from './limit-errors.js';

describe('a refusal as an error', () => {
  test('says when to come back, in whole seconds, and never at once', () => {
    expect(new RateExceeded({ rate: 'r', retryAfterMs: 1 }).message).toContain('in 1 second.');
    expect(new RateExceeded({ rate: 'r', retryAfterMs: 1_001 }).message).toContain('in 2 seconds.');
  });

  test('is an Error of its name, without a stack, and leaves those of other errors alone', () => {
    const refusals = [
      new RateExceeded({ rate: 'r', retryAfterMs: 1 }),
      new CapExceeded({ cap: 'c', limit: 1, what: 'pushers' }),
    ];
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(Error);
      expect(refusal.stack).not.toContain('\n');
    }
    expect(refusals.map(({ name }) => name)).toEqual(['RateExceeded', 'CapExceeded']);
    expect(new Error('another').stack).toContain('limit-errors.spec');
  });
});
