import { LimitRules } from './limit-rules.js';

const key = () => 'k';

describe('LimitRules', () => {
  test('shares one budget between routes that declare the same rate, and refuses different declarations', () => {
    const rules = new LimitRules({ rateOptions: { ring: { limit: 3 } } });
    const ring = rules.rate({ name: 'ring', limit: 10, windowMs: 60_000, key });
    expect(rules.rate({ name: 'ring', limit: 10, windowMs: 60_000, key })).toBe(ring);
    expect(ring.limit).toBe(3);
    expect(() => rules.rate({ name: 'ring', limit: 20, windowMs: 60_000, key })).toThrow('differently');
  });
});
