import 'reflect-metadata';
import { BodyBudget, PathTable } from '@headgate/homeserver-contracts';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { Bounds } from '../bounds/bounds.js';
import { AbandonedRequests } from '../edge/abandoned-requests.js';
import { CallerAddress } from '../edge/caller-address.js';
import { Dispatcher } from '../edge/dispatcher.js';
import { matrixAdapter } from '../edge/matrix-adapter.js';
import { MatrixController } from '../edge/matrix.controller.js';
import { ApplicationServices } from '../gateway/application-services.js';
import { GatewayHomeserver } from '../gateway/gateway-homeserver.js';
import { GatewayIdentity } from '../gateway/gateway-identity.js';
import { UpstreamClient } from '../gateway/upstream-client.js';
import { UpstreamHeaders } from '../gateway/upstream-headers.js';
import { UpstreamQueries } from '../gateway/upstream-queries.js';
import { GatewayRelay } from '../relay/gateway-relay.js';
import { RelayPlan } from '../relay/relay-plan.js';

// The gateway's forwarding without a table and without bounds: the baseline of the gateway's benchmark.
const TIMEOUT_MS = 60_000;
const base = new URL(process.argv[2] ?? '');
const log = pino({ level: 'silent' });
const addresses = new CallerAddress([], 64);
const upstream = new UpstreamClient(base);
const headers = new UpstreamHeaders(base.host, addresses);
const identity = new GatewayIdentity(
  new UpstreamQueries({ client: upstream, host: base.host, timeoutMs: TIMEOUT_MS, headers }),
  ApplicationServices.read([], 'b'),
  { serverName: 'b', ttlMs: 60_000 },
);
const homeserver = new GatewayHomeserver({
  upstream,
  identity,
  observer: { interest: () => 'none', observe: async () => undefined },
  headers,
  timeoutMs: TIMEOUT_MS,
  log,
});
const table = new PathTable<string>([]);
const bounds = new Bounds([]);
const dispatcher = new Dispatcher({
  table,
  bounds,
  rules: { run: (_request, _operation, next) => next() },
  homeserver,
  addresses,
  bodies: new BodyBudget(),
  abandoned: new AbandonedRequests({ addresses, maxPerSource: 1_024, onRefused: () => undefined }),
  log,
});

@Module({ controllers: [MatrixController], providers: [{ provide: Dispatcher, useValue: dispatcher }] })
class UnguardedModule {}

const app = await NestFactory.create<NestFastifyApplication>(UnguardedModule, matrixAdapter(), {
  logger: false,
  bodyParser: false,
});
const plan = new RelayPlan({
  table,
  bounds,
  addresses,
  timeoutMs: TIMEOUT_MS,
  hasMetrics: false,
  rules: { applyTo: () => false },
  deny: { isOpen: true, concerns: () => false },
});
new GatewayRelay({ upstream: base, plan, addresses, identity, onAnswer: () => undefined, log }).attach(
  app.getHttpServer(),
);
await app.listen(0, '127.0.0.1');
process.stdout.write(`${JSON.stringify({ url: await app.getUrl() })}\n`);
