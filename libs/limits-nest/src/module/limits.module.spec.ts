import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Injectable,
  Module,
  type ModuleMetadata,
  Scope,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { Capped } from '../caps/capped.decorator.js';
import { RateLimit } from '../rates/rate-limit.decorator.js';
import { RateGuard } from '../rates/rate.guard.js';
import { HeldCounter } from '../rules/cap-rule.js';
import { LimitRules } from '../rules/limit-rules.js';
import type { LimitsModuleExtras, LimitsOptions, LimitsOptionsFactory } from '../rules/limits-options.js';
import { TestApp } from '../testing/test-app.js';
import { LimitsModule } from './limits.module.js';

const ring = { limit: 2, windowMs: 60_000, key: () => 'all' };

@Injectable()
class Shelf extends HeldCounter {
  count = () => 0;
}

const things = { limit: 3, resource: 'things', counter: Shelf, write: () => ({ holder: 'a' }) };

@Controller()
class Routes {
  @Get('ring')
  @RateLimit('ring', ring)
  ring() {
    return {};
  }

  @Get('things')
  @Capped('things', things)
  things() {
    return {};
  }
}

const metadata = { controllers: [Routes], providers: [Shelf] };

describe('LimitsModule at startup', () => {
  const start = (metadata: ModuleMetadata, options: LimitsOptions & LimitsModuleExtras = {}) =>
    TestApp.start('Fastify', metadata, options);

  test.each([
    [{ capLimits: { things: 0 } }, 'things: the cap must be a whole number'],
    [{ rateOptions: { ring: { limit: 0 } } }, 'ring: the limit must be a whole number'],
    [{ rateOptions: { rign: { limit: 1 } } }, 'rateOptions.rign: no route declares this rule'],
    [{ capLimits: { ring: 1 } }, 'capLimits.ring: no route declares this rule. Declared rules: things.'],
    [{ shadow: ['login'] }, 'shadow.login: no route declares this rule'],
  ])('refuses %j and names it', async (options, message) => {
    await expect(start(metadata, options)).rejects.toThrow(message);
  });

  test('refuses a rule on a method that is not an HTTP route', async () => {
    @Controller()
    class Sockets {
      @SetMetadata('message', 'ring')
      @RateLimit('ring', ring)
      onRing() {
        return {};
      }
    }
    @Injectable()
    class Resolver {
      @RateLimit('ring', ring)
      ring() {
        return {};
      }
    }
    await expect(start({ controllers: [Sockets] })).rejects.toThrow(
      'Sockets.onRing: @RateLimit and @Capped only support HTTP routes.',
    );
    await expect(start({ providers: [Resolver] })).rejects.toThrow('Resolver.ring:');
  });

  test('refuses a route that overrides one with rules and declares none', async () => {
    @Controller()
    class Overriding extends Routes {
      @Get('ring')
      override ring() {
        return {};
      }
    }
    await expect(start({ ...metadata, controllers: [Overriding] })).rejects.toThrow(
      'Overriding.ring has lost its rules',
    );
  });

  test('refuses a guard that would run after rules that may depend on the caller', async () => {
    @Injectable()
    class Identify implements CanActivate {
      canActivate = () => true;
    }
    @Controller()
    class WrongOrder {
      @Get('ring')
      @UseGuards(Identify)
      @RateLimit('ring', ring)
      ring() {
        return {};
      }
    }
    @RateLimit('ring', ring)
    @Controller()
    class TooEarly {
      @Get('ring')
      @UseGuards(Identify)
      ring() {
        return {};
      }
    }
    const message = '@RateLimit must be above @UseGuards, so that Identify runs before its rules.';
    await expect(start({ controllers: [WrongOrder] })).rejects.toThrow(`WrongOrder.ring: ${message}`);
    await expect(start({ controllers: [TooEarly] })).rejects.toThrow(`TooEarly.ring: ${message}`);
  });

  test('refuses a rule that a route declares twice', async () => {
    @RateLimit('ring', ring)
    @Controller()
    class Twice {
      @Get('ring')
      @RateLimit('ring', ring)
      ring() {
        return {};
      }
    }
    await expect(start({ controllers: [Twice] })).rejects.toThrow('Twice.ring declares ring twice.');
  });

  test('refuses a counter that no module provides as a singleton', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Scoped extends HeldCounter {
      count = () => 0;
    }
    @Controller()
    class Thing {
      @Get('things')
      @Capped('things', { ...things, counter: Scoped })
      things() {
        return {};
      }
    }
    await expect(start({ controllers: [Thing] })).rejects.toThrow('Scoped');
    await expect(start({ controllers: [Thing], providers: [Scoped] })).rejects.toThrow('Scoped');
  });

  test('refuses rules without LimitsModule', async () => {
    await expect(Test.createTestingModule(metadata).compile()).rejects.toThrow('LimitRules');
  });

  test('defines every rule, so that a snapshot can be restored before the first request', async () => {
    const limiter = new MemoryRateLimiter({ clock: new ManualClock() });
    const app = await start(metadata, { limiter });
    expect(limiter.rates.map(({ name }) => name)).toEqual(['ring']);
    await app.close();
  });
});

describe('LimitsModule', () => {
  @Injectable()
  class Options implements LimitsOptionsFactory {
    createLimitsOptions = async () => ({ rateOptions: { ring: { limit: 1 } } });
  }
  @Module({ providers: [Options], exports: [Options] })
  class OptionsModule {}

  test.each([
    ['forRoot', LimitsModule.forRoot({ rateOptions: { ring: { limit: 1 } } })],
    [
      'forRootAsync with a factory',
      LimitsModule.forRootAsync({
        imports: [OptionsModule],
        inject: [Options],
        useFactory: (options: Options) => options.createLimitsOptions(),
      }),
    ],
    ['forRootAsync with a class', LimitsModule.forRootAsync({ useClass: Options })],
    ['forRootAsync with a provider', LimitsModule.forRootAsync({ imports: [OptionsModule], useExisting: Options })],
  ])('takes its options from %s', async (_how, limits) => {
    const module = await Test.createTestingModule({ ...metadata, imports: [limits] }).compile();
    const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
    await app.init();
    const statuses = [];
    for (let i = 0; i < 2; i++) statuses.push((await app.inject('/ring')).statusCode);
    expect(statuses).toEqual([200, 429]);
    await app.close();
  });

  test('leaves errors to a filter of the application', async () => {
    @Catch()
    class OwnFilter implements ExceptionFilter {
      catch(error: Error, host: ArgumentsHost): void {
        void host.switchToHttp().getResponse().status(429).send({ own: error.name });
      }
    }
    const providers = [Shelf, { provide: APP_FILTER, useClass: OwnFilter }];
    const app = await TestApp.start('Fastify', { ...metadata, providers }, { matrixErrors: false });
    for (let i = 0; i < 2; i++) await app.send('GET', '/ring');
    expect((await app.send('GET', '/ring')).body).toEqual({ own: 'RateExceededException' });
    await app.close();
  });

  test('uses the status of a refusal without a filter of the application', async () => {
    const app = await TestApp.start('Express', metadata, { matrixErrors: false, capLimits: { things: 1 } });
    for (let i = 0; i < 2; i++) await app.send('GET', '/ring');
    expect(await app.send('GET', '/ring')).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    await app.send('GET', '/things');
    const refusal = await app.send('GET', '/things');
    expect(refusal).toMatchObject({ status: 400, body: { statusCode: 400 } });
    expect(refusal.headers).not.toHaveProperty('retry-after');
    await app.close();
  });

  test('starts no timers', async () => {
    const timers = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'setInterval')];
    const module = await Test.createTestingModule({ ...metadata, imports: [LimitsModule.forRoot()] }).compile();
    await module.init();
    await module.get(LimitRules).reset('ring', 'all');
    for (const timer of timers) expect(timer).not.toHaveBeenCalled();
    for (const timer of timers) timer.mockRestore();
    await module.close();
  });

  test('lets an operator inspect and reset a key', async () => {
    const app = await TestApp.start('Fastify', metadata);
    const rules = app.get(LimitRules);
    await app.send('GET', '/ring');
    expect(rules.peek('ring', 'all')).toMatchObject({ counted: 1, limit: 2 });
    expect(rules.reset('ring', 'all')).toBe(true);
    expect(rules.peek('ring', 'all')).toMatchObject({ counted: 0 });
    expect(() => rules.peek('rign', 'all')).toThrow('rign: no route declares this rate.');
    await app.close();
  });

  test('separates applications of one process, and sums their memory in a shared registry', async () => {
    const registry = new Registry();
    const keys = async () => (await registry.getSingleMetric('limits_keys')!.get()).values[0]!.value;
    const first = await TestApp.start('Fastify', metadata, { registry });
    const second = await TestApp.start('Express', metadata, { registry });
    for (const app of [first, second, first, second]) expect((await app.send('GET', '/ring')).status).toBe(200);
    expect((await first.send('GET', '/ring')).status).toBe(429);
    expect(await keys()).toBe(2);
    expect(await first.decisions('ring')).toEqual({ granted: 4, refused: 1 });
    await first.close();
    expect(await keys()).toBe(1);
    await second.close();
    expect(await keys()).toBe(0);
  });
});

test.each(['ws', 'rpc', 'graphql'])('RateGuard rejects a %s context', async (kind) => {
  const app = await TestApp.start('Fastify', metadata);
  const context = { getType: () => kind, getClass: () => Routes, getHandler: () => Routes.prototype.ring };
  const guard = new RateGuard(app.get(LimitRules));
  await expect(guard.canActivate(context as never)).rejects.toThrow(
    `Routes.ring: @RateLimit and @Capped only support HTTP routes, not ${kind}.`,
  );
  await app.close();
});
