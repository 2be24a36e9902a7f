import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import { MatrixError } from '@headgate/matrix-protocol';
import { Body, Controller, ForbiddenException, HttpCode, Injectable, Post, Put } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import { bySource } from '../http/source-key.js';
import { LimitRules } from '../rules/limit-rules.js';
import type { LimitsOptions } from '../rules/limits-options.js';
import { AsyncLimiter } from '../testing/async-limiter.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { RateLimit } from './rate-limit.decorator.js';

interface LoginRequest extends LimitedRequest {
  readonly body: { readonly user: string; readonly password: string };
}

const caller = ({ headers }: LimitedRequest) => headers['x-user'] as string | undefined;

/** Counts the verified passwords. */
@Injectable()
class Passwords {
  verified = 0;

  async verify({ password }: LoginRequest['body']): Promise<void> {
    this.verified++;
    await new Promise((next) => setImmediate(next));
    if (password === 'broken') throw new Error('the store is unavailable');
    if (password === 'malformed') throw MatrixError.badJson('No such identifier.');
    if (password !== 'right') throw new ForbiddenException('Invalid username or password.');
  }
}

@Controller()
class Routes {
  constructor(private readonly passwords: Passwords) {}

  @Post('login')
  @HttpCode(200)
  @RateLimit('login.account', {
    limit: 5,
    windowMs: 60_000,
    key: ({ body }: LoginRequest) => body.user.toLowerCase(),
    counts: 'failures',
  })
  @RateLimit('login.source', { limit: 30, windowMs: 60_000, key: bySource(), counts: 'failures' })
  async login(@Body() login: LoginRequest['body']) {
    await this.passwords.verify(login);
    return { user_id: login.user };
  }

  @Put('ring')
  @RateLimit('ring', { limit: 2, windowMs: 60_000, key: caller })
  ring() {
    throw new ForbiddenException('Not in the room.');
  }

  @Put('mixed')
  @RateLimit('mixed.every', { limit: 2, windowMs: 120_000, key: caller })
  @RateLimit('mixed.failures', { limit: 2, windowMs: 60_000, key: caller, counts: 'failures' })
  @RateLimit('mixed.conflicts', {
    limit: 2,
    windowMs: 60_000,
    key: caller,
    counts: 'failures',
    isFailure: (error) => error instanceof MatrixError,
  })
  mixed(@Body() { fail }: { fail?: 'forbidden' | 'conflict' }) {
    if (fail === 'forbidden') throw new ForbiddenException();
    if (fail === 'conflict') throw new MatrixError(409, 'M_UNKNOWN', 'Conflict.');
    return {};
  }
}

describe.each(PLATFORMS)('@RateLimit on %s', (platform) => {
  let app: TestApp;

  const start = async (options?: LimitsOptions) => {
    app = await TestApp.start(platform, { controllers: [Routes], providers: [Passwords] }, options);
  };
  const login = (password: string, user = 'alice', from = '203.0.113.7') =>
    app.send('POST', '/login', { body: { user, password }, from });
  const ring = (user?: string) => app.send('PUT', '/ring', user ? { headers: { 'x-user': user } } : {});
  const verified = () => app.get(Passwords).verified;
  const repeat = async (times: number, work: () => Promise<{ status: number }>) => {
    const statuses = [];
    for (let i = 0; i < times; i++) statuses.push((await work()).status);
    return statuses;
  };

  afterEach(() => app.close());

  test.each(['in this process', 'on a server'])(
    'verifies exactly 5 of 100 parallel wrong passwords, with a limiter %s',
    async (where) => {
      const limiter = new MemoryRateLimiter({ clock: new ManualClock() });
      await start({ limiter: where === 'on a server' ? new AsyncLimiter(limiter) : limiter });
      const answers = await Promise.all(Array.from({ length: 100 }, () => login('wrong')));
      expect(verified()).toBe(5);
      expect(answers.filter(({ status }) => status === 403)).toHaveLength(5);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(95);
    },
  );

  test('answers 429 as a Matrix error, with the wait in the body and, rounded up, in Retry-After', async () => {
    await start();
    await repeat(5, () => login('wrong'));
    app.clock.advance(1_001);
    const refusal = await login('right');
    expect(refusal.status).toBe(429);
    expect(refusal.headers).toMatchObject({
      'retry-after': '59',
      'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After',
    });
    expect(refusal.headers['content-type']).toContain('application/json');
    expect(refusal.body).toEqual({
      errcode: 'M_LIMIT_EXCEEDED',
      error: 'Too many requests: try again in 59 seconds.',
      retry_after_ms: 58_999,
    });
    app.clock.advance(58_999);
    expect((await login('right')).status).toBe(200);
  });

  test('clears the history of both keys on success', async () => {
    await start();
    await repeat(4, () => login('wrong'));
    expect((await login('right')).status).toBe(200);
    expect(await repeat(6, () => login('wrong'))).toEqual([403, 403, 403, 403, 403, 429]);
  });

  test('does not count a server error or a malformed request as a failed attempt', async () => {
    await start();
    expect(new Set(await repeat(10, () => login('broken')))).toEqual(new Set([500]));
    expect(new Set(await repeat(10, () => login('malformed')))).toEqual(new Set([400]));
    expect((await login('wrong')).status).toBe(403);
  });

  test('does not use up the budget of an account while its source is refused', async () => {
    await start();
    for (let attempt = 0; attempt < 30; attempt++) await login('wrong', `user${attempt % 10}`);
    expect((await login('wrong', 'carol')).status).toBe(429);
    expect(await repeat(5, () => login('wrong', 'carol', '198.51.100.1'))).toEqual([403, 403, 403, 403, 403]);
  });

  test('counts every attempt under a rate that counts every request', async () => {
    await start();
    expect(await repeat(3, () => ring('a'))).toEqual([403, 403, 429]);
    expect((await ring('b')).status).toBe(403);
  });

  test('does not count a request without a key', async () => {
    await start();
    expect(new Set(await repeat(10, () => ring()))).toEqual(new Set([403]));
  });

  test('applies the definition of a failure of each rule', async () => {
    await start();
    const mixed = (fail?: string, user = 'a') =>
      app.send('PUT', '/mixed', { headers: { 'x-user': user }, body: { fail } });
    const peek = (rate: string) => app.get(LimitRules).peek(rate, 'a');
    await mixed('forbidden');
    expect(await peek('mixed.failures')).toMatchObject({ counted: 1, inFlight: 0 });
    expect(await peek('mixed.conflicts')).toMatchObject({ counted: 0, inFlight: 0 });
    await mixed('conflict');
    expect(await peek('mixed.failures')).toMatchObject({ counted: 1, inFlight: 0 });
    expect(await peek('mixed.conflicts')).toMatchObject({ counted: 1, inFlight: 0 });
    expect(await peek('mixed.every')).toMatchObject({ counted: 2, inFlight: 0 });
  });

  test('reports the longest wait of all refusing rules, and counts under no other rule', async () => {
    await start({ rateOptions: { 'mixed.failures': { limit: 1 }, 'mixed.every': { limit: 1 } } });
    const mixed = () => app.send('PUT', '/mixed', { headers: { 'x-user': 'a' }, body: { fail: 'forbidden' } });
    expect((await mixed()).status).toBe(403);
    expect((await mixed()).body).toMatchObject({ retry_after_ms: 120_000 });
    expect(await app.decisions('mixed.every')).toEqual({ granted: 1, refused: 1 });
    expect(await app.decisions('mixed.failures')).toEqual({ granted: 1 });
  });

  test('takes its limit from the options if they set one', async () => {
    await start({ rateOptions: { ring: { limit: 1 } } });
    expect(await repeat(2, () => ring('a'))).toEqual([403, 429]);
  });

  test('counts and reports in shadow mode, but never refuses', async () => {
    await start({ shadow: ['ring'] });
    expect(new Set(await repeat(5, () => ring('a')))).toEqual(new Set([403]));
    expect(await app.decisions('ring')).toEqual({ granted: 2, shadow_refused: 3 });
  });

  test('refuses by the other rules next to one in shadow mode', async () => {
    await start({ shadow: ['login.account'], rateOptions: { 'login.source': { limit: 7 } } });
    expect(await repeat(8, () => login('wrong'))).toEqual([403, 403, 403, 403, 403, 403, 403, 429]);
    expect(await app.decisions('login.account')).toEqual({ granted: 5, shadow_refused: 2 });
    expect(await app.decisions('login.source')).toEqual({ granted: 7, refused: 1 });
  });

  test('reports each rule and outcome', async () => {
    await start();
    await repeat(7, () => login('wrong'));
    expect(await app.decisions('login.account')).toEqual({ granted: 5, refused: 2 });
    expect(await app.decisions('login.source')).toEqual({ granted: 5 });
    expect(await app.registry.metrics()).toContain('limits_keys 2');
  });

  test('does nothing when rates are disabled', async () => {
    await start({ ratesEnabled: false });
    expect(new Set(await repeat(20, () => login('wrong')))).toEqual(new Set([403]));
  });
});
