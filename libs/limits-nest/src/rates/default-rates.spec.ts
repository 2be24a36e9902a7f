import { Controller, Get, Post } from '@nestjs/common';
import { bySource } from '../http/source-key.js';
import type { LimitsModuleExtras, LimitsOptions } from '../rules/limits-options.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { RateLimit } from './rate-limit.decorator.js';
import { SkipRateLimit } from './skip-rate-limit.decorator.js';

const MINUTE_MS = 60_000;

@Controller()
class Routes {
  @Get('one')
  one() {
    return {};
  }

  @Get('two')
  two() {
    return {};
  }

  @Get('health')
  @SkipRateLimit()
  health() {
    return {};
  }

  @Post('login')
  @SkipRateLimit('requests')
  @RateLimit('login', { limit: 1, windowMs: MINUTE_MS, key: bySource() })
  login() {
    return {};
  }
}

@SkipRateLimit('requests')
@RateLimit('status', { limit: 1, windowMs: MINUTE_MS, key: bySource() })
@Controller('status')
class Status {
  @Get('limited')
  limited() {
    return {};
  }

  @Get('free')
  @SkipRateLimit('status')
  free() {
    return {};
  }
}

const requests = { limit: 2, windowMs: MINUTE_MS, key: bySource() };
const metadata = { controllers: [Routes, Status] };

describe.each(PLATFORMS)('default rates on %s', (platform) => {
  let app: TestApp;
  const start = async (options: LimitsOptions & LimitsModuleExtras) => {
    app = await TestApp.start(platform, metadata, options);
  };
  const get = async (path: string, from = '203.0.113.7') => (await app.send('GET', path, { from })).status;
  const statuses = async (...paths: string[]) => {
    const found = [];
    for (const path of paths) found.push(await get(path));
    return found;
  };
  afterEach(() => app.close());

  test('limit all routes together', async () => {
    await start({ defaultRates: { requests } });
    expect(await statuses('/one', '/two', '/one', '/two')).toEqual([200, 200, 429, 429]);
    expect(await get('/one', '198.51.100.1')).toBe(200);
    expect(await app.decisions('requests')).toEqual({ granted: 3, refused: 2 });
  });

  test('limit each route separately if they are per route', async () => {
    await start({ defaultRates: { requests: { ...requests, perRoute: true } } });
    expect(await statuses('/one', '/one', '/one', '/two', '/two', '/two')).toEqual([200, 200, 429, 200, 200, 429]);
  });

  test('are skipped by routes and controllers that say so, which keep their own rules', async () => {
    await start({ defaultRates: { requests } });
    expect(await statuses('/health', '/health', '/health', '/health')).toEqual([200, 200, 200, 200]);
    const login = async () => (await app.send('POST', '/login', { from: '203.0.113.7' })).status;
    expect([await login(), await login()]).toEqual([201, 429]);
    expect(await statuses('/status/limited', '/status/limited', '/status/free', '/status/free')).toEqual([
      200, 429, 200, 200,
    ]);
    expect(await statuses('/one', '/one', '/one')).toEqual([200, 200, 429]);
  });

  test('take their limit from the options, support shadow mode, and can be disabled', async () => {
    await start({ defaultRates: { requests }, rateOptions: { requests: { limit: 1 } }, shadow: ['requests'] });
    expect(await statuses('/one', '/one')).toEqual([200, 200]);
    expect(await app.decisions('requests')).toEqual({ granted: 1, shadow_refused: 1 });
    await app.close();
    await start({ defaultRates: { requests }, ratesEnabled: false });
    expect(await statuses('/one', '/one', '/one')).toEqual([200, 200, 200]);
  });
});

describe('at startup', () => {
  test('refuses to skip a rate that does not exist', async () => {
    await expect(TestApp.start('Fastify', metadata)).rejects.toThrow(
      'Routes.login: @SkipRateLimit names requests, which is not a rate.',
    );
  });

  test('refuses a route that declares a default rate', async () => {
    @Controller()
    class Twice {
      @Get()
      @RateLimit('requests', requests)
      get() {
        return {};
      }
    }
    await expect(TestApp.start('Fastify', { controllers: [Twice] }, { defaultRates: { requests } })).rejects.toThrow(
      'Twice.get declares requests twice.',
    );
  });
});
