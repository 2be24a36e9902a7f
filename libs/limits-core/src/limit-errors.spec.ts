import { CapExceeded, RateExceeded } from './limit-errors.js';

describe('RateExceeded and CapExceeded', () => {
  test('reports the wait in whole seconds, at least one', () => {
    expect(new RateExceeded({ rate: 'r', retryAfterMs: 1 }).message).toContain('in 1 second.');
    expect(new RateExceeded({ rate: 'r', retryAfterMs: 1_001 }).message).toContain('in 2 seconds.');
  });

  test('are named errors without a stack, and do not affect the stacks of other errors', () => {
    const refusals = [
      new RateExceeded({ rate: 'r', retryAfterMs: 1 }),
      new CapExceeded({ cap: 'c', limit: 1, resource: 'pushers' }),
    ];
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(Error);
      expect(refusal.stack).not.toContain('\n');
    }
    expect(refusals.map(({ name }) => name)).toEqual(['RateExceeded', 'CapExceeded']);
    expect(new Error('another').stack).toContain('limit-errors.spec');
  });
});
