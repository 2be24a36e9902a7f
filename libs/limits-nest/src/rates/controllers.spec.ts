import { type CanActivate, Controller, type ExecutionContext, Get, Injectable, UseGuards } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { RateLimit } from './rate-limit.decorator.js';

interface Identified extends LimitedRequest {
  user?: string;
}

/** Identifies the caller, as an authentication guard does. */
@Injectable()
class Identify implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Identified>();
    request.user = request.headers['x-user'] as string | undefined;
    return true;
  }
}

const perUser = (limit: number) => ({ limit, windowMs: 60_000, key: ({ user }: Identified) => user });

@RateLimit('tokens', perUser(3))
@UseGuards(Identify)
@Controller('tokens')
class Tokens {
  @Get('one')
  one() {
    return {};
  }

  @RateLimit('tokens.rare', perUser(1))
  @Get('rare')
  rare() {
    return {};
  }
}

@Controller('guarded')
class Guarded {
  @RateLimit('guarded', perUser(1))
  @UseGuards(Identify)
  @Get()
  get() {
    return {};
  }
}

abstract class Base {
  @RateLimit('base', perUser(2))
  @Get('shared')
  shared() {
    return {};
  }
}

@UseGuards(Identify)
@Controller('first')
class First extends Base {}

@UseGuards(Identify)
@Controller('second')
class Second extends Base {
  @Get('free')
  free() {
    return {};
  }
}

@RateLimit('more', perUser(5))
@Controller('more')
class MoreTokens extends Tokens {
  @Get('own')
  own() {
    return {};
  }
}

describe.each(PLATFORMS)('@RateLimit and controllers on %s', (platform) => {
  let app: TestApp;
  const get = async (path: string, user = 'alice') =>
    (await app.send('GET', path, { headers: { 'x-user': user } })).status;
  const statuses = async (...paths: string[]) => {
    const answers = [];
    for (const path of paths) answers.push(await get(path));
    return answers;
  };

  beforeEach(async () => {
    app = await TestApp.start(platform, { controllers: [Tokens, Guarded, First, Second, MoreTokens] });
  });
  afterEach(() => app.close());

  test('limits the routes of a controller together, and each caller separately', async () => {
    expect(await statuses('/tokens/one', '/tokens/rare', '/tokens/one', '/tokens/one')).toEqual([200, 200, 200, 429]);
    expect(await get('/tokens/one', 'bob')).toBe(200);
  });

  test('counts under the rules of the route and of its controller, or under none', async () => {
    expect(await statuses('/tokens/rare', '/tokens/rare', '/tokens/rare')).toEqual([200, 429, 429]);
    expect(await app.decisions('tokens')).toEqual({ granted: 1 });
    expect(await statuses('/tokens/one', '/tokens/one', '/tokens/one')).toEqual([200, 200, 429]);
  });

  test('runs after the guards listed below it on the same route', async () => {
    expect(await statuses('/guarded', '/guarded')).toEqual([200, 429]);
  });

  test('shares one budget between controllers that inherit a route', async () => {
    expect(await statuses('/first/shared', '/second/shared', '/first/shared')).toEqual([200, 200, 429]);
    expect(await get('/second/free')).toBe(200);
  });

  test('adds the rules of a controller to those of the controller it extends', async () => {
    expect(await statuses('/more/own', '/more/own', '/more/one', '/more/one')).toEqual([200, 200, 200, 429]);
    expect(await app.decisions('more')).toEqual({ granted: 3 });
    expect(await get('/tokens/one')).toBe(429);
  });
});
