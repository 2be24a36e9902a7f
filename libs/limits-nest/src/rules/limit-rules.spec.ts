import { LimitRules } from './limit-rules.js';

const key = () => 'k';

describe('LimitRules', () => {
  test('gives routes that share a rate one budget, and refuses to guess when they disagree about its terms', () => {
    const rules = new LimitRules({ rateTerms: { ring: { limit: 3 } } });
    const ring = rules.rate({ name: 'ring', limit: 10, windowMs: 60_000, key });
    expect(rules.rate({ name: 'ring', limit: 10, windowMs: 60_000, key })).toBe(ring);
    expect(ring.limit).toBe(3);
    expect(() => rules.rate({ name: 'ring', limit: 20, windowMs: 60_000, key })).toThrow('different terms');
  });
});
