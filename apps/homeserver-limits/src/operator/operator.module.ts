import type { Server } from 'node:http';
import { CapLedger, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Logger } from 'pino';
import { AddressBlocks } from '../state/address-blocks.js';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { DecisionHistory } from '../metrics/decision-history.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { RecentRequests } from '../reports/recent-requests.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { ReportsModule } from '../reports/reports.module.js';
import { RulesModule } from '../rules/rules.module.js';
import { OperatorJournal } from '../state/operator-journal.js';
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
        journal: OperatorJournal,
        recent: RecentRequests,
        history: DecisionHistory,
        metrics: LimitsMetrics,
        adapterHost: HttpAdapterHost,
        log: Logger,
        blocks?: AddressBlocks,
      ) => {
        const { listen = '', token, tokens: named } = config.current.operator;
        const tokens = token === undefined ? named : { operator: token, ...named };
        const readiness = readinessOf(adapterHost);
        const state = { windows, store, ledger, refusals, overrides, journal, recent, history, blocks };
        const { bouncers } = config.current.blocks;
        return new OperatorListener({ listen, tokens, bouncers, ...state, config, metrics, readiness, log });
      },
      inject: [
        LiveConfig,
        MemoryRateLimiter,
        RateLimiter,
        CapLedger,
        RefusalLog,
        Overrides,
        OperatorJournal,
        RecentRequests,
        DecisionHistory,
        LimitsMetrics,
        HttpAdapterHost,
        LOGGER,
        AddressBlocks,
      ],
    },
  ],
})
export class OperatorModule {}
