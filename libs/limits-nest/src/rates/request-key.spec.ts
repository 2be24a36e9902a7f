import { Body, Controller, HttpCode, HttpException, Post } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { RateLimit } from './rate-limit.decorator.js';

interface LoginRequest extends LimitedRequest {
  readonly body: { readonly user: string };
}

const perUser = { limit: 1, windowMs: 60_000, key: ({ body }: LoginRequest) => body.user };

@Controller()
class Routes {
  @Post('login')
  @HttpCode(200)
  @RateLimit('login', perUser)
  login(@Body() body: unknown) {
    return { body: body ?? null };
  }

  @Post('trimmed')
  @HttpCode(200)
  @RateLimit('trimmed', { ...perUser, key: ({ body }: LoginRequest) => body.user.trim() })
  trimmed() {
    return {};
  }

  @Post('asynchronous')
  @HttpCode(200)
  @RateLimit('asynchronous', { ...perUser, key: async ({ body }: LoginRequest) => body.user })
  asynchronous() {
    return {};
  }

  @Post('broken')
  @RateLimit('broken', {
    ...perUser,
    key: () => {
      throw new Error('the secret of the key');
    },
  })
  broken() {
    return {};
  }

  @Post('forbidden')
  @RateLimit('forbidden', {
    ...perUser,
    key: () => {
      throw new HttpException('No key for you.', 418);
    },
  })
  forbidden() {
    return {};
  }

  @Post('plan')
  @HttpCode(200)
  @RateLimit('plan', {
    windowMs: 60_000,
    key: ({ body }: LoginRequest) => body.user,
    limit: async ({ headers }) => (headers['x-plan'] === 'pro' ? 3 : 1),
  })
  plan() {
    return {};
  }

  @Post('odd-plan')
  @RateLimit('odd-plan', { windowMs: 60_000, key: () => 'all', limit: ({ headers }) => Number(headers['x-limit']) })
  oddPlan() {
    return {};
  }
}

describe.each(PLATFORMS)('the key of a rate on %s', (platform) => {
  let app: TestApp;
  beforeEach(async () => {
    app = await TestApp.start(platform, { controllers: [Routes] });
  });
  afterEach(() => app.close());
  const post = async (path: string, body?: unknown, headers?: Record<string, string>) =>
    app.send('POST', path, { body, headers });
  const statuses = async (...calls: (() => ReturnType<typeof post>)[]) => {
    const found = [];
    for (const call of calls) found.push((await call()).status);
    return found;
  };

  test('is a text: lists, numbers and other values are refused with 400 and share no window with a text', async () => {
    for (const user of [['alice'], 5, { name: 'alice' }, true, null]) {
      const answer = await post('/login', { user });
      expect([user, answer.status]).toEqual([user, 400]);
      expect(answer.body).toMatchObject({ errcode: 'M_BAD_JSON', error: expect.stringContaining('login') });
    }
    expect(
      await statuses(
        () => post('/login', { user: 'alice' }),
        () => post('/login', { user: '5' }),
      ),
    ).toEqual([200, 200]);
    expect((await post('/login', { user: 'alice' })).status).toBe(429);
  });

  test('is refused with 400 when a body is missing or has another form than it reads', async () => {
    expect((await app.send('POST', '/trimmed')).status).toBe(400);
    for (const body of ['null', '5', '"text"', '[]', '{}', '{"user":["a"]}']) {
      const answer = await app.send('POST', '/trimmed', { body });
      expect([body, answer.status]).toEqual([body, 400]);
    }
    expect((await post('/trimmed', { user: ' a ' })).status).toBe(200);
  });

  test('may be asynchronous', async () => {
    const call = () => post('/asynchronous', { user: 'alice' });
    expect(await statuses(call, call)).toEqual([200, 429]);
    expect((await post('/asynchronous', { user: 5 })).status).toBe(400);
  });

  test('keeps the status of an exception that the function throws, and does not expose other errors', async () => {
    expect((await post('/forbidden', {})).body).toMatchObject({ error: 'No key for you.' });
    const broken = await post('/broken', {});
    expect(broken.status).toBe(500);
    expect(JSON.stringify(broken.body)).not.toContain('secret');
  });

  test('may have a limit of its own, which is asynchronous too', async () => {
    const call = (user: string, plan: string) => () => post('/plan', { user }, { 'x-plan': plan });
    expect(await statuses(call('a', 'free'), call('a', 'free'))).toEqual([200, 429]);
    expect(await statuses(call('b', 'pro'), call('b', 'pro'), call('b', 'pro'), call('b', 'pro'))).toEqual([
      200, 200, 200, 429,
    ]);
    expect(await statuses(call('b', 'free'), call('a', 'pro'))).toEqual([429, 200]);
  });

  test.each(['0', '-1', '1.5', 'x'])('does not accept %p as its own limit', async (limit) => {
    expect((await post('/odd-plan', {}, { 'x-limit': limit })).status).toBe(500);
  });
});
