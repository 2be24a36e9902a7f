import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CapLedger, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { MatrixErrorFilter, toMatrixError } from '@headgate/limits-nest';
import { edgeAdapter, ListenAddress } from '@headgate/nest-kit';
import { type BeforeApplicationShutdown, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { explainListenFailure } from '../config/listen-failure.js';
import { LiveConfig } from '../config/live-config.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { StartLogger } from '../start-logger.js';
import { Overrides } from '../state/overrides.js';
import { OperatorController } from './operator.controller.js';
import { OverrideLog, OverridesController } from './overrides.controller.js';
import { OperatorGuard } from './operator.guard.js';
import { ProbesController, Readiness } from './probes.controller.js';

const REQUEST_TIMEOUT_MS = 30_000;
/** More than an override takes. */
const MAX_BODY_BYTES = 1024;
const MAX_PARAMETER_CHARACTERS = 100;

export interface OperatorListenerDeps {
  /** HOST:PORT. */
  listen: string;
  /** The bearer token of every caller. Without one, the listener is on a loopback address. */
  token?: string | undefined;
  /** Knows the rates by name. */
  windows: MemoryRateLimiter;
  /** Where the rates count: the windows, or those that several gateways share. */
  store: RateLimiter;
  ledger: CapLedger;
  refusals: RefusalLog;
  overrides: Overrides;
  /** The rules in force. */
  config: LiveConfig;
  metrics: LimitsMetrics;
  readiness: Readiness;
  log: Logger;
}

@Module({})
class OperatorApiModule {}

/**
 * The operator's API on a listener of its own, away from clients: a second Nest application over the providers of the
 * first.
 */
export class OperatorListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private app?: NestFastifyApplication;
  url?: string;

  constructor(private readonly deps: OperatorListenerDeps) {}

  onApplicationBootstrap(): Promise<void> {
    return this.listen();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.close();
  }

  async listen(): Promise<void> {
    const { listen, token, windows, store, ledger, refusals, overrides, config, metrics, readiness, log } = this.deps;
    const address = ListenAddress.parse(listen);
    const module = {
      module: OperatorApiModule,
      controllers: [ProbesController, OverridesController, OperatorController],
      providers: [
        { provide: MemoryRateLimiter, useValue: windows },
        { provide: RateLimiter, useValue: store },
        { provide: CapLedger, useValue: ledger },
        { provide: RefusalLog, useValue: refusals },
        { provide: Overrides, useValue: overrides },
        { provide: LiveConfig, useValue: config },
        { provide: OverrideLog, useValue: log },
        { provide: LimitsMetrics, useValue: metrics },
        { provide: Readiness, useValue: readiness },
        { provide: APP_GUARD, useValue: new OperatorGuard(token) },
        { provide: APP_FILTER, useClass: MatrixErrorFilter },
      ],
    };
    this.app = await NestFactory.create<NestFastifyApplication>(module, operatorAdapter(), {
      logger: new StartLogger(log),
      abortOnError: false,
    });
    await explainListenFailure('operator.listen', listen, this.app.listen(address.port, address.host));
    this.url = address.urlOn((this.server.address() as AddressInfo).port);
  }

  async close(): Promise<void> {
    if (!this.app) return;
    this.server.closeAllConnections();
    await this.app.close();
  }

  private get server(): Server {
    return this.app!.getHttpServer();
  }
}

const operatorAdapter = () =>
  edgeAdapter({
    bodyBytes: MAX_BODY_BYTES,
    requestMs: REQUEST_TIMEOUT_MS,
    parameterLength: MAX_PARAMETER_CHARACTERS,
    refuse: (error) => {
      const refusal = toMatrixError(error);
      return { status: refusal.status, body: refusal.body() };
    },
  });
