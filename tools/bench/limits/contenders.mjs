import './typescript-source.mjs';

/**
 * Each contender decides whether an event of a key may pass, and returns a boolean or a promise of one. All have the
 * same limit and window, keep their windows in memory, and are called like their own middleware or guard calls them.
 */
export const contenders = {
  'limits-core': async ({ limit, windowMs }) => {
    const { MemoryRateLimiter } = await import('../../../libs/limits-core/src/index.ts');
    const limiter = new MemoryRateLimiter({ maxKeys: 1_000_000 });
    const rate = limiter.define('bench', { limit, windowMs });
    return { sync: true, decide: (key) => limiter.count(rate, key) === undefined };
  },
  'limits-core, gcra': async ({ limit, windowMs }) => {
    const { MemoryRateLimiter } = await import('../../../libs/limits-core/src/index.ts');
    const limiter = new MemoryRateLimiter({ maxKeys: 1_000_000 });
    const rate = limiter.define('bench', { limit, windowMs, algorithm: 'gcra' });
    return { sync: true, decide: (key) => limiter.count(rate, key) === undefined };
  },
  'typed table': async (rate) => {
    const { TypedTable } = await import('./typed-table.mjs');
    const table = new TypedTable(rate);
    return { sync: true, decide: (key) => table.count(key) };
  },
  'rate-limiter-flexible': async ({ limit, windowMs }) => {
    const { RateLimiterMemory } = (await import('rate-limiter-flexible')).default;
    const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1000 });
    return {
      decide: (key) =>
        limiter.consume(key).then(
          () => true,
          () => false,
        ),
    };
  },
  'express-rate-limit': async ({ limit, windowMs }) => {
    const { MemoryStore } = await import('express-rate-limit');
    const store = new MemoryStore();
    store.init({ windowMs });
    return { decide: async (key) => (await store.increment(key)).totalHits <= limit };
  },
  '@nestjs/throttler': async ({ limit, windowMs }) => {
    const { ThrottlerStorageService } = await import('@nestjs/throttler');
    const storage = new ThrottlerStorageService();
    return {
      decide: async (key) => !(await storage.increment(key, windowMs, limit, windowMs, 'bench')).isBlocked,
    };
  },
};
