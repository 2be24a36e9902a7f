import 'reflect-metadata';
import { MemoryRateLimiter } from '@headgate/limits-core';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { AppModule } from '../app.module.js';
import { PathTable } from '../classify/path-table.js';
import { CallerAddress } from '../edge/caller-address.js';
import { Dispatcher } from '../edge/dispatcher.js';
import { matrixAdapter } from '../edge/matrix-adapter.js';
import { ApplicationServices } from '../gateway/application-services.js';
import { AskUpstream } from '../gateway/ask-upstream.js';
import { GatewayHomeserver } from '../gateway/gateway-homeserver.js';
import { GatewayIdentity } from '../gateway/gateway-identity.js';
import { UpstreamClient } from '../gateway/upstream-client.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';

// The gateway's own forwarding without a table and without bounds: what the benchmark holds the real one against.
const base = new URL(process.argv[2] ?? '');
const client = new UpstreamClient(base);
const identity = new GatewayIdentity(new AskUpstream(client, base.host, 60_000), ApplicationServices.read([], 'b'), {
  serverName: 'b',
  ttlMs: 60_000,
});
const nothing = { interest: () => 'none' as const, observe: async () => undefined };
const homeserver = new GatewayHomeserver(client, identity, nothing, {
  host: base.host,
  timeoutMs: 60_000,
  trusts: () => false,
  log: pino({ level: 'silent' }),
});
const dispatcher = new Dispatcher(
  new PathTable([]),
  {},
  homeserver,
  new CallerAddress([], 64),
  pino({ level: 'silent' }),
);
const app = await NestFactory.create<NestFastifyApplication>(
  AppModule.over(dispatcher, new LimitsMetrics(new MemoryRateLimiter())),
  matrixAdapter(),
  { logger: false, bodyParser: false },
);
await app.listen(0, '127.0.0.1');
process.stdout.write(`${JSON.stringify({ url: await app.getUrl() })}\n`);
