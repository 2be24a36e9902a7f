import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  HttpCode,
  Injectable,
  type NestInterceptor,
  ParseIntPipe,
  Post,
  Query,
  RequestTimeoutException,
  Res,
  UnauthorizedException,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { type Observable, from, map, merge, mergeMap, of, throwError } from 'rxjs';
import { nodeResponse, statusOf } from '../http/http-route.js';
import { LimitRules } from '../rules/limit-rules.js';
import { AsyncLimiter } from '../testing/async-limiter.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import { RateLimit } from './rate-limit.decorator.js';

const failures = { limit: 3, windowMs: 60_000, key: () => 'all', counts: 'failures' } as const;

interface Reply {
  raw?: ServerResponse;
  status(code: number): { send(body: object): unknown };
}

/** Lets a test control when a handler continues, and gives it the handler's response. */
@Injectable()
class Stage {
  readonly entered = Promise.withResolvers<ServerResponse>();
  readonly gate = Promise.withResolvers<void>();
}

/** Verifies the password itself, as Passport's local strategy does. */
@Injectable()
class PasswordGuard implements CanActivate {
  verified = 0;

  canActivate(context: ExecutionContext): boolean {
    this.verified++;
    const { body } = context.switchToHttp().getRequest<{ body: { password: string } }>();
    if (body.password === 'strange') throw new ForbiddenException();
    if (body.password !== 'right') throw new UnauthorizedException();
    return true;
  }
}

@Injectable()
class Impatient implements NestInterceptor {
  constructor(private readonly stage: Stage) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const patience = from(this.stage.entered.promise).pipe(
      mergeMap(() => throwError(() => new RequestTimeoutException())),
    );
    return merge(next.handle(), patience);
  }
}

@Injectable()
class Closed implements NestInterceptor {
  intercept(): Observable<unknown> {
    throw new ForbiddenException('Closed for today.');
  }
}

@Controller()
class Routes {
  constructor(private readonly stage: Stage) {}

  @Post('guarded')
  @HttpCode(200)
  @UseGuards(PasswordGuard)
  @RateLimit('guarded', { ...failures, isFailure: (error) => statusOf(error) === 401 })
  guarded() {
    return {};
  }

  @Post('closed')
  @UseInterceptors(Closed)
  @RateLimit('closed', failures)
  closed() {
    return {};
  }

  @Post('piped')
  @RateLimit('piped', failures)
  piped(@Query('n', ParseIntPipe) n: number) {
    return { n };
  }

  @Post('status')
  @RateLimit('status', failures)
  status(@Res({ passthrough: true }) reply: Reply, @Body() { code }: { code: number }) {
    reply.status(code);
    return { errcode: 'M_FORBIDDEN' };
  }

  @Post('written')
  @RateLimit('written', failures)
  written(@Res() reply: Reply, @Body() { code }: { code: number }) {
    setImmediate(() => reply.status(code).send({ code }));
  }

  @Post('silent')
  @RateLimit('silent', failures)
  silent(): void {
    return undefined;
  }

  @Post('many')
  @RateLimit('many', failures)
  many(@Body() { code }: { code: number }) {
    return code === 200
      ? of(1, 2)
      : of(1, 2).pipe(
          map(() => {
            throw new ForbiddenException();
          }),
        );
  }

  @Post('slow')
  @RateLimit('slow', failures)
  async slow(@Res({ passthrough: true }) reply: Reply, @Body() { code }: { code: number }) {
    this.stage.entered.resolve(nodeResponse(reply));
    await this.stage.gate.promise;
    if (code !== 200) throw new ForbiddenException();
    return {};
  }

  @Post('watched')
  @RateLimit('watched', failures)
  watched(@Res({ passthrough: true }) reply: Reply) {
    this.stage.entered.resolve(nodeResponse(reply));
    return from(this.stage.gate.promise);
  }

  @Post('hung')
  @RateLimit('hung', failures)
  @UseInterceptors(Impatient)
  async hung(@Res({ passthrough: true }) reply: Reply) {
    this.stage.entered.resolve(nodeResponse(reply));
    await this.stage.gate.promise;
  }
}

describe.each(PLATFORMS)('a rate that counts failures on %s', (platform) => {
  let app: TestApp;
  const post = (path: string, body: object = {}) => app.send('POST', `/${path}`, { body });
  const peek = (rate: string) => app.get(LimitRules).peek(rate, 'all');
  const empty = { counted: 0, inFlight: 0 };

  beforeEach(async () => {
    app = await TestApp.start(platform, { controllers: [Routes], providers: [Stage, PasswordGuard] });
  });
  afterEach(async () => {
    app.get(Stage).gate.resolve();
    await app.close();
  });

  test('runs before a guard that verifies passwords, and counts its refusals', async () => {
    for (const password of ['wrong', 'strange', 'wrong', 'wrong']) await post('guarded', { password });
    expect((await post('guarded', { password: 'right' })).status).toBe(429);
    expect(app.get(PasswordGuard).verified).toBe(4);
    await app.get(LimitRules).reset('guarded', 'all');
    await post('guarded', { password: 'wrong' });
    expect((await post('guarded', { password: 'right' })).status).toBe(200);
    expect(await peek('guarded')).toMatchObject(empty);
  });

  test('counts the response of an interceptor that answers instead of the handler', async () => {
    expect((await post('closed')).status).toBe(403);
    expect(await peek('closed')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('releases the reservation when a pipe refuses', async () => {
    expect((await post('piped?n=x')).status).toBe(400);
    expect(await peek('piped')).toMatchObject(empty);
  });

  test('judges a returned value by the response status', async () => {
    await post('status', { code: 403 });
    expect(await peek('status')).toMatchObject({ counted: 1 });
    await post('status', { code: 409 });
    expect(await peek('status')).toMatchObject({ counted: 1, inFlight: 0 });
    await post('status', { code: 200 });
    expect(await peek('status')).toMatchObject(empty);
  });

  test('waits for the response of a handler that writes it itself', async () => {
    expect((await post('written', { code: 403 })).status).toBe(403);
    expect(await peek('written')).toMatchObject({ counted: 1, inFlight: 0 });
    expect((await post('written', { code: 201 })).status).toBe(201);
    expect(await peek('written')).toMatchObject(empty);
  });

  test('clears the history when a handler without a return value succeeds', async () => {
    expect((await post('silent')).status).toBe(201);
    expect(await peek('silent')).toMatchObject(empty);
  });

  test('judges an Observable by its end', async () => {
    expect((await post('many', { code: 403 })).status).toBe(403);
    expect(await peek('many')).toMatchObject({ counted: 1 });
    expect((await post('many', { code: 200 })).status).toBe(201);
    expect(await peek('many')).toMatchObject(empty);
  });

  test.each([
    [403, { counted: 1, inFlight: 0 }],
    [200, empty],
  ])('keeps the reservation of a disconnected client until its handler has ended with %d', async (code, held) => {
    const call = app.open('POST', '/slow', { body: { code } });
    const response = await app.get(Stage).entered.promise;
    call.destroy();
    await once(response, 'close');
    expect(await peek('slow')).toMatchObject({ counted: 0, inFlight: 1 });
    app.get(Stage).gate.resolve();
    await settled();
    expect(await peek('slow')).toMatchObject(held);
  });

  test('counts an attempt that is abandoned because its client disconnects', async () => {
    const call = app.open('POST', '/watched');
    const response = await app.get(Stage).entered.promise;
    call.destroy();
    await once(response, 'close');
    await settled();
    expect(await peek('watched')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('counts an attempt whose handler was abandoned', async () => {
    expect((await post('hung')).status).toBe(408);
    expect(await peek('hung')).toMatchObject({ counted: 1, inFlight: 0 });
  });
});

test('a shared limiter settles the outcome of a request before its response is sent', async () => {
  const limiter = new AsyncLimiter(new MemoryRateLimiter({ clock: new ManualClock() }));
  const app = await TestApp.start('Fastify', { controllers: [Routes], providers: [Stage, PasswordGuard] }, { limiter });
  for (let i = 0; i < 5; i++) {
    await app.send('POST', '/status', { body: { code: 403 } });
    await app.send('POST', '/status', { body: { code: 403 } });
    expect((await app.send('POST', '/status', { body: { code: 200 } })).status).toBe(200);
    expect(await app.get(LimitRules).peek('status', 'all')).toMatchObject({ counted: 0, inFlight: 0 });
  }
  await app.close();
});

/** Lets the pending promises of a finished request settle. */
const settled = () => new Promise((next) => setImmediate(next));
