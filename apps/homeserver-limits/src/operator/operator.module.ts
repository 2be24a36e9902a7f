import type { Server } from 'node:http';
import { CapLedger, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { ReportsModule } from '../reports/reports.module.js';
import { RulesModule } from '../rules/rules.module.js';
import { Overrides } from '../state/overrides.js';
import { OperatorListener } from './operator-listener.js';
import type { Readiness } from './probes.controller.js';

/** Ready while the listener for clients is open. At a shutdown, this listener closes first. */
const readinessOf = ({ httpAdapter }: HttpAdapterHost): Readiness => ({
  get isReady() {
    return (httpAdapter.getHttpServer() as Server).listening;
  },
});

/** The operator's API, where `operator.listen` is set. */
@Module({
  imports: [RulesModule, ReportsModule, MetricsModule],
  providers: [
    {
      provide: OperatorListener,
      useFactory: (
        config: LiveConfig,
        windows: MemoryRateLimiter,
        store: RateLimiter,
        ledger: CapLedger,
        refusals: RefusalLog,
        overrides: Overrides,
        metrics: LimitsMetrics,
        adapterHost: HttpAdapterHost,
        log: Logger,
      ) => {
        const { listen = '', token } = config.current.operator;
        const readiness = readinessOf(adapterHost);
        const state = { windows, store, ledger, refusals, overrides };
        return new OperatorListener({ listen, token, ...state, config, metrics, readiness, log });
      },
      inject: [
        LiveConfig,
        MemoryRateLimiter,
        RateLimiter,
        CapLedger,
        RefusalLog,
        Overrides,
        LimitsMetrics,
        HttpAdapterHost,
        LOGGER,
      ],
    },
  ],
})
export class OperatorModule {}
