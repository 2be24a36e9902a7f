import { Controller, Get, Header } from '@nestjs/common';
import { bySource } from '../http/source-key.js';
import type { LimitsModuleExtras, LimitsOptions } from '../rules/limits-options.js';
import { AsyncLimiter } from '../testing/async-limiter.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import { RateLimit } from './rate-limit.decorator.js';

@Controller()
class Routes {
  @Get('ring')
  @RateLimit('ring', { limit: 2, windowMs: 60_000, key: bySource() })
  ring() {
    return {};
  }

  @Get('both')
  @Header('Access-Control-Expose-Headers', 'X-Page')
  @RateLimit('per "minute"', { limit: 2, windowMs: 60_500, key: bySource() })
  @RateLimit('login', { limit: 5, windowMs: 300_000, key: bySource(), counts: 'failures' })
  both() {
    return {};
  }
}

describe.each(PLATFORMS)('RateLimit headers on %s', (platform) => {
  let app: TestApp;
  const start = async (options: LimitsOptions & LimitsModuleExtras = {}) => {
    app = await TestApp.start(platform, { controllers: [Routes] }, options);
  };
  const headersOf = async (path: string) => (await app.send('GET', path)).headers;
  afterEach(() => app.close());

  test('report the exhausted quota with a refusal only, by default', async () => {
    await start();
    for (let i = 0; i < 2; i++) expect(await headersOf('/ring')).not.toHaveProperty('ratelimit');
    app.clock.advance(1_001);
    expect(await headersOf('/ring')).toMatchObject({
      'ratelimit-policy': '"ring";q=2;w=60',
      ratelimit: '"ring";r=0;t=59',
      'retry-after': '59',
      'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After',
    });
  });

  test('report the remaining quotas with every response, if enabled', async () => {
    await start({ headers: 'all' });
    expect(await headersOf('/ring')).toMatchObject({
      'ratelimit-policy': '"ring";q=2;w=60',
      ratelimit: '"ring";r=1;t=60',
    });
    expect(await headersOf('/both')).toMatchObject({
      'ratelimit-policy': '"per \\"minute\\"";q=2;w=61, "login";q=5;w=300',
      ratelimit: '"per \\"minute\\"";r=1;t=61, "login";r=4;t=300',
    });
    await app.send('GET', '/both');
    expect((await app.send('GET', '/both')).headers).toMatchObject({ ratelimit: '"per \\"minute\\"";r=0;t=61' });
  });

  test('are the same with a shared limiter', async () => {
    const limiter = new AsyncLimiter(new MemoryRateLimiter({ clock: new ManualClock() }));
    await start({ headers: 'all', limiter });
    expect(await headersOf('/ring')).toMatchObject({ ratelimit: '"ring";r=1;t=60' });
  });

  test('are left out if unwanted, except Retry-After', async () => {
    await start({ headers: 'none' });
    for (let i = 0; i < 2; i++) await app.send('GET', '/ring');
    const headers = await headersOf('/ring');
    expect(headers).toMatchObject({ 'retry-after': '60', 'access-control-expose-headers': 'Retry-After' });
    expect(headers).not.toHaveProperty('ratelimit');
  });

  test('never report a rate in shadow mode', async () => {
    await start({ headers: 'all', shadow: ['ring'] });
    for (let i = 0; i < 3; i++) expect(await headersOf('/ring')).not.toHaveProperty('ratelimit');
  });

  test("accompany a refusal in Nest's error format", async () => {
    await start({ matrixErrors: false });
    for (let i = 0; i < 2; i++) await app.send('GET', '/ring');
    const refusal = await app.send('GET', '/ring');
    expect(refusal.status).toBe(429);
    expect(refusal.body).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'Too many requests: try again in 60 seconds.',
    });
    expect(refusal.headers).toMatchObject({ 'retry-after': '60', ratelimit: '"ring";r=0;t=60' });
  });
});
