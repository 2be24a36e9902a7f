import { type CapOffer, ManualClock, RateWindows } from '@headgate/limits-core';
import { MatrixError } from '@headgate/matrix-protocol';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  Put,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { Capped, HeldCounter } from './capped.js';
import { Limited } from './limited.js';
import { LimitsModule } from './limits.module.js';
import type { LimitsOptions } from './limits-options.js';
import { type LimitedRequest, bySource } from './request-key.js';

interface Login {
  user: string;
  password: string;
}

const account = ({ body }: LimitedRequest) => (body as Partial<Login>).user?.toLowerCase();
const caller = ({ headers }: LimitedRequest) => headers['x-user'] as string | undefined;

/** What the tests look at and steer: how many passwords were verified, and when. */
@Injectable()
class Passwords {
  verified = 0;
  gate: Promise<void> = Promise.resolve();

  async verify({ password }: Login): Promise<void> {
    this.verified++;
    await this.gate;
    if (password === 'broken') throw new Error('the store is away');
    if (password === 'malformed') throw MatrixError.badJson('No such identifier.');
    if (password !== 'right') throw new ForbiddenException('Invalid username or password.');
  }
}

@Injectable()
class Shelf extends HeldCounter {
  readonly things = new Set<string>();
  asked = 0;

  count(): number {
    this.asked++;
    return this.things.size;
  }
}

@Injectable()
class LateGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.switchToHttp().getRequest<LimitedRequest>().headers['x-late']) throw new UnauthorizedException('late');
    return true;
  }
}

@Controller()
class Routes {
  constructor(
    private readonly passwords: Passwords,
    private readonly shelf: Shelf,
  ) {}

  @Post('login')
  @HttpCode(200)
  @Limited('login.account', { limit: 5, windowMs: 60_000, key: account, counts: 'failures' })
  @Limited('login.source', { limit: 30, windowMs: 60_000, key: bySource(), counts: 'failures' })
  async login(@Body() login: Login) {
    await this.passwords.verify(login);
    return { user_id: login.user };
  }

  @Put('ring')
  @Limited('ring', { limit: 2, windowMs: 60_000, key: caller })
  ring() {
    throw new ForbiddenException('Not in the room.');
  }

  @Post('guarded')
  @UseGuards(LateGuard)
  @Limited('guarded', { limit: 1, windowMs: 60_000, key: caller, counts: 'failures' })
  guarded() {
    return {};
  }

  @Put('things')
  @Capped('things', {
    limit: 3,
    what: 'things',
    held: Shelf,
    offer: ({ body, headers }): CapOffer => ({
      holder: caller({ headers })!,
      id: (body as { id: string }).id,
      rewrite: (body as { rewrite?: boolean }).rewrite ?? false,
    }),
  })
  async put(@Body() { id, fail }: { id: string; fail?: boolean }) {
    if (fail) throw MatrixError.forbidden('No.');
    this.shelf.things.add(id);
    return {};
  }

  @Get('free')
  free() {
    return { ok: true };
  }
}

@Module({ controllers: [Routes], providers: [Passwords, Shelf] })
class RoutesModule {}

describe('LimitsModule on Nest and Fastify', () => {
  let app: NestFastifyApplication;
  let clock: ManualClock;
  let registry: Registry;

  async function start(options: Partial<LimitsOptions> = {}): Promise<void> {
    clock = new ManualClock();
    registry = new Registry();
    const useFactory = () => ({ store: new RateWindows({ clock }), registry, ...options });
    const module = await Test.createTestingModule({
      imports: [LimitsModule.forRootAsync({ useFactory }), RoutesModule],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
  }

  const login = (password: string, user = 'alice', remoteAddress = '203.0.113.7') =>
    app.inject({ method: 'POST', url: '/login', payload: { user, password }, remoteAddress });
  const ring = (user: string) => app.inject({ method: 'PUT', url: '/ring', headers: { 'x-user': user } });
  const put = (payload: object) => app.inject({ method: 'PUT', url: '/things', headers: { 'x-user': 'a' }, payload });
  const verified = () => app.get(Passwords).verified;
  const series = async (rule: string) => {
    const metric = await registry.getSingleMetric('limits_decisions_total')!.get();
    return Object.fromEntries(
      metric.values
        .filter(({ labels }) => labels['rule'] === rule)
        .map(({ labels, value }) => [labels['outcome'], value]),
    );
  };

  afterEach(() => app.close());

  describe('@Limited', () => {
    test('lets 100 parallel wrong passwords cause exactly 5 verifications', async () => {
      await start();
      const answers = await Promise.all(Array.from({ length: 100 }, () => login('wrong')));
      expect(verified()).toBe(5);
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([
        ...Array.from({ length: 5 }, () => 403),
        ...Array.from({ length: 95 }, () => 429),
      ]);
    });

    test('answers 429 in Matrix form, with the same wait in the body and, rounded up, in Retry-After', async () => {
      await start();
      for (let attempt = 0; attempt < 5; attempt++) await login('wrong');
      clock.advance(1_001);
      const refusal = await login('right');
      expect(refusal.statusCode).toBe(429);
      expect(refusal.headers).toMatchObject({ 'retry-after': '59', 'access-control-expose-headers': 'Retry-After' });
      expect(refusal.headers['content-type']).toContain('application/json');
      expect(refusal.json()).toEqual({
        errcode: 'M_LIMIT_EXCEEDED',
        error: 'Too many requests: try again in 59 seconds.',
        retry_after_ms: 58_999,
      });
      clock.advance(58_999);
      expect((await login('right')).statusCode).toBe(200);
    });

    test('forgets the history of both keys on success', async () => {
      await start();
      for (let attempt = 0; attempt < 4; attempt++) await login('wrong');
      await login('right');
      for (let attempt = 0; attempt < 5; attempt++) expect((await login('wrong')).statusCode).toBe(403);
      expect((await login('wrong')).statusCode).toBe(429);
    });

    test('counts neither a server error nor a malformed request as a failed attempt', async () => {
      await start();
      for (let attempt = 0; attempt < 20; attempt++) {
        expect((await login('broken')).statusCode).toBe(500);
        expect((await login('malformed')).statusCode).toBe(400);
      }
      expect((await login('wrong')).statusCode).toBe(403);
    });

    test('spends no budget of an account while its source is refused', async () => {
      await start();
      for (let attempt = 0; attempt < 30; attempt++) await login('wrong', `user${attempt % 10}`);
      expect((await login('wrong', 'carol')).statusCode).toBe(429);
      for (let attempt = 0; attempt < 5; attempt++) {
        expect((await login('wrong', 'carol', '198.51.100.1')).statusCode).toBe(403);
      }
    });

    test('counts every attempt of a rate that says so, whatever comes of it', async () => {
      await start();
      expect([(await ring('a')).statusCode, (await ring('a')).statusCode]).toEqual([403, 403]);
      expect((await ring('a')).statusCode).toBe(429);
      expect((await ring('b')).statusCode).toBe(403);
    });

    test('does not count a request without a key', async () => {
      await start();
      for (let attempt = 0; attempt < 10; attempt++) {
        expect((await app.inject({ method: 'PUT', url: '/ring' })).statusCode).toBe(403);
      }
    });

    test('gives room back when a later guard ends the request', async () => {
      await start();
      const call = (headers: Record<string, string>) => app.inject({ method: 'POST', url: '/guarded', headers });
      for (let attempt = 0; attempt < 3; attempt++) {
        expect((await call({ 'x-user': 'a', 'x-late': '1' })).statusCode).toBe(401);
      }
      expect((await call({ 'x-user': 'a' })).statusCode).toBe(201);
    });

    test('takes its terms from the options when these have some', async () => {
      await start({ rateTerms: { ring: { limit: 1 } } });
      await ring('a');
      expect((await ring('a')).statusCode).toBe(429);
    });

    test('counts and reports in shadow mode, but never refuses', async () => {
      await start({ shadow: ['ring'] });
      for (let attempt = 0; attempt < 5; attempt++) expect((await ring('a')).statusCode).toBe(403);
      expect(await series('ring')).toEqual({ granted: 2, shadow_refused: 3 });
    });

    test('reports each rule and outcome', async () => {
      await start();
      for (let attempt = 0; attempt < 7; attempt++) await login('wrong');
      expect(await series('login.account')).toEqual({ granted: 5, refused: 2 });
      expect(await series('login.source')).toEqual({ granted: 5 });
      expect(await registry.metrics()).toContain('limits_keys 2');
    });

    test('is off when rates are off', async () => {
      await start({ rates: false });
      for (let attempt = 0; attempt < 20; attempt++) expect((await login('wrong')).statusCode).toBe(403);
    });
  });

  describe('@Capped', () => {
    test('refuses with 400 and no hint to retry, and takes no more than the cap from parallel writes', async () => {
      await start();
      const answers = await Promise.all(['1', '2', '3', '4', '5'].map((id) => put({ id })));
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 200, 400, 400]);
      const refusal = answers.find(({ statusCode }) => statusCode === 400)!;
      expect(refusal.json()).toEqual({
        errcode: 'M_LIMIT_EXCEEDED',
        error: 'No more than 3 things are held; waiting does not help, removing some does.',
      });
      expect(refusal.headers['retry-after']).toBeUndefined();
      expect(app.get(Shelf).asked).toBe(1);
    });

    test('lets rewriting through at the cap, and gives room back when the write fails', async () => {
      await start({ rates: false });
      for (let attempt = 0; attempt < 5; attempt++) expect((await put({ id: 'x', fail: true })).statusCode).toBe(403);
      for (const id of ['1', '2', '3']) expect((await put({ id })).statusCode).toBe(200);
      expect((await put({ id: '4' })).statusCode).toBe(400);
      expect((await put({ id: '1', rewrite: true })).statusCode).toBe(200);
    });

    test('takes its limit from the options, and only reports in shadow mode', async () => {
      await start({ capLimits: { things: 1 }, shadow: ['things'] });
      for (const id of ['1', '2', '3', '4']) expect((await put({ id })).statusCode).toBe(200);
      expect(await series('things')).toEqual({ granted: 1, shadow_refused: 3 });
    });
  });

  describe('the start', () => {
    test.each([
      [{ capLimits: { things: 0 } }, 'things: the cap must be a whole number'],
      [{ rateTerms: { ring: { limit: 0 } } }, 'ring: the limit must be a whole number'],
      [{ rateTerms: { rign: { limit: 1 } } }, 'rateTerms.rign: no route declares this rule'],
      [{ capLimits: { ring: 1 } }, 'capLimits.ring: no route declares this rule; there are things.'],
      [{ shadow: ['login'] }, 'shadow.login: no route declares this rule'],
    ])('is stopped by %j, which names itself', async (options, message) => {
      await expect(start(options)).rejects.toThrow(message);
    });

    test('defines every rule, so that a snapshot can be restored before the first request', async () => {
      const store = new RateWindows({ clock: new ManualClock() });
      await start({ store });
      expect(store.rates.map(({ name }) => name).sort()).toEqual(['guarded', 'login.account', 'login.source', 'ring']);
    });
  });

  describe('every other error', () => {
    test.each([
      ['GET', '/nowhere', undefined, 404, 'M_UNRECOGNIZED'],
      ['POST', '/login', '{"user":', 400, 'M_NOT_JSON'],
      ['POST', '/login', JSON.stringify({ password: 'x'.repeat(2_000_000) }), 413, 'M_TOO_LARGE'],
    ] as const)('%s %s answers in Matrix form', async (method, url, payload, status, errcode) => {
      await start();
      const headers = { 'content-type': 'application/json' };
      const answer = await app.inject({ method, url, ...(payload ? { payload, headers } : {}) });
      expect(answer.statusCode).toBe(status);
      expect(answer.json()).toEqual({ errcode, error: expect.any(String) });
    });

    test('says nothing of what went wrong inside', async () => {
      await start();
      const answer = await login('broken');
      expect(answer.json()).toEqual({ errcode: 'M_UNKNOWN', error: 'Something went wrong on this server.' });
      expect((await app.inject('/free')).json()).toEqual({ ok: true });
    });
  });
});
