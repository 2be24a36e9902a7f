import { FallbackRateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { RedisRateLimiter } from '@headgate/limits-redis';
import { canonicalJson } from '@headgate/matrix-protocol';

async function main(): Promise<void> {
  // Nothing listens there, so the limits are counted in memory.
  const shared = RedisRateLimiter.open({ url: 'redis://127.0.0.1:1' });
  const limiter = new FallbackRateLimiter(shared, new MemoryRateLimiter());
  const rate = limiter.define('login', { limit: 1, windowMs: 60_000 });
  const refusals = [await limiter.count(rate, 'alice'), await limiter.count(rate, 'alice')];
  await shared.close();
  console.log(
    JSON.stringify({ refused: refusals.map((refusal) => refusal?.rate ?? null), json: canonicalJson({ b: 1, a: 2 }) }),
  );
}

void main();
