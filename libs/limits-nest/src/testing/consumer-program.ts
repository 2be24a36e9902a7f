/** A program that uses every package and prints the results. */
export const CONSUMER = `
import 'reflect-metadata';
import { CapLedger, FallbackRateLimiter, type RateRefusal, MemoryRateLimiter } from '@headgate/limits-core';
import { RateLimit, LimitsModule, bySource } from '@headgate/limits-nest';
import { RedisRateLimiter } from '@headgate/limits-redis';
import { canonicalJson, MatrixError } from '@headgate/matrix-protocol';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';

const limiter = new MemoryRateLimiter({ maxKeys: 100 });
const rate = limiter.define('login', { limit: 1, windowMs: 60_000 });
const first: RateRefusal | undefined = limiter.count(rate, 'alice');
const second: RateRefusal | undefined = limiter.count(rate, 'alice');
// @ts-expect-error a key is a string
const wrong = () => limiter.count(rate, 1);
// @ts-expect-error a rate has a window
const incomplete = () => limiter.define('ring', { limit: 1 });
// @ts-expect-error a cap has no window
const confused = () => LimitsModule.forRoot({ capLimits: { pushers: { limit: 1 } } });

@Controller()
class Login {
  @Post('login')
  @RateLimit('login.source', { limit: 1, windowMs: 60_000, key: bySource() })
  login() {
    return {};
  }
}

const shared = RedisRateLimiter.open({ url: 'redis://127.0.0.1:1' });

@Module({
  imports: [LimitsModule.forRoot({ limiter: new FallbackRateLimiter(shared, new MemoryRateLimiter()) })],
  controllers: [Login],
})
class App {}

async function main(): Promise<void> {
  const ledger = new CapLedger();
  const cap = ledger.define('pushers', { limit: 1, resource: 'pushers' });
  const write = await ledger.reserve(cap, { holder: 'alice', amount: 2 }, () => 0);
  const app = await NestFactory.create<NestFastifyApplication>(App, new FastifyAdapter(), { logger: false });
  await app.init();
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 2; attempt++) {
    statuses.push((await app.inject({ method: 'POST', url: '/login' })).statusCode);
  }
  await app.close();
  await shared.close();
  console.log(JSON.stringify({
    first: first === undefined,
    second: second?.rate,
    write: write.granted,
    json: canonicalJson({ b: 1, a: 2 }),
    status: MatrixError.unrecognized().status,
    statuses,
  }));
}

void main();
`;

export const PRINTED = {
  first: true,
  second: 'login',
  write: false,
  json: '{"a":2,"b":1}',
  status: 404,
  statuses: [201, 429],
};
