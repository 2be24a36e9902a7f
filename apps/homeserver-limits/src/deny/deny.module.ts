import { Module } from '@nestjs/common';
import type { DecisionListener } from '@headgate/limits-nest';
import type { Logger } from 'pino';
import { AddressBlocks } from '../state/address-blocks.js';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import { DECISION_LISTENER, LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { ReportsModule } from '../reports/reports.module.js';
import { Rules } from '../rules/rules.js';
import { RulesModule } from '../rules/rules.module.js';
import { DenyFiles } from './deny-files.js';
import { DenyGate } from './deny-gate.js';
import { DenyLists } from './deny-lists.js';

/** Lists of addresses that are refused. A worker gets them from the main process. */
@Module({
  imports: [RulesModule, ReportsModule, MetricsModule],
  providers: [
    { provide: DenyLists, useFactory: () => new DenyLists() },
    {
      provide: DenyFiles,
      useFactory: (
        lists: DenyLists,
        config: LiveConfig,
        metrics: LimitsMetrics,
        log: Logger,
        main?: MainLink,
        blocks?: AddressBlocks,
      ) => {
        if (main) return undefined;
        const declare = (names: readonly string[]) => metrics.declareRules(names);
        return new DenyFiles({ lists, settings: () => config.current.deny, declare, log, ownOrigin: blocks?.origin });
      },
      inject: [DenyLists, LiveConfig, LimitsMetrics, LOGGER, MAIN_LINK, AddressBlocks],
    },
    {
      provide: DenyGate,
      useFactory: (lists: DenyLists, rules: Rules, watch: DecisionListener, refusals: RefusalLog) =>
        new DenyGate({ lists, rules, watch, refusals }),
      inject: [DenyLists, Rules, DECISION_LISTENER, RefusalLog],
    },
  ],
  exports: [DenyLists, DenyFiles, DenyGate],
})
export class DenyModule {}
