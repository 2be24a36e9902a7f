import type { RuleListener } from '@headgate/limit-rules';
import { type MemoryRateLimiter as Windows, MemoryRateLimiter } from '@headgate/limits-core';
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { AddressBlocks } from '../state/address-blocks.js';
import { Overrides } from '../state/overrides.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { RecentRequests } from './recent-requests.js';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import { RefusalLog } from './refusal-log.js';
import { RemoteRefusals } from './remote-refusals.js';
import { RequestLog } from './request-log.js';

/** The token of the listener of the rules: everything that reports their decisions. */
export const RULE_LISTENER = Symbol('RuleListener');

/** From this part of its limit, a key is close to it. */
const NEAR_LIMIT = 0.8;

/**
 * Reports the decisions of the rules to the metrics and to the log of refusals.
 * @param factorOf how many times the limit of its rule a key has
 * @param blocks notes the blocks of addresses; undefined when nothing is exported
 */
export function reportDecisions(
  metrics: LimitsMetrics,
  refusals: RefusalLog,
  windows: Windows,
  factorOf: (rule: string, key: string) => number = () => 1,
  blocks?: Pick<AddressBlocks, 'note'>,
): RuleListener {
  return {
    onGranted(rule, key) {
      metrics.watch(rule, 'granted');
      const rate = windows.rate(rule);
      if (!rate) return;
      const limit = rate.limit * factorOf(rule, key);
      if (windows.peek(rate, key).counted >= limit * NEAR_LIMIT) metrics.countNearLimit(rule);
    },
    onRefused(refusal, facts, isShadow) {
      metrics.watch(refusal.rule, isShadow ? 'shadow_refused' : 'refused');
      refusals.rate(refusal, facts, isShadow);
      if (!isShadow) blocks?.note(refusal);
    },
  };
}

@Module({
  imports: [MetricsModule],
  providers: [
    {
      provide: RefusalLog,
      useFactory: (log: Logger, config: LiveConfig, main?: MainLink) =>
        main ? new RemoteRefusals(main) : new RefusalLog(log, () => config.current.log.refusals),
      inject: [LOGGER, LiveConfig, MAIN_LINK],
    },
    {
      provide: RequestLog,
      useFactory: ({ current: { log: settings } }: LiveConfig, log: Logger, main?: MainLink) =>
        settings.requests_file === undefined || main ? undefined : RequestLog.open(settings.requests_file, log),
      inject: [LiveConfig, LOGGER, MAIN_LINK],
    },
    {
      provide: RecentRequests,
      useFactory: ({ current: { operator } }: LiveConfig, main?: MainLink) =>
        operator.listen === undefined || main ? undefined : new RecentRequests(),
      inject: [LiveConfig, MAIN_LINK],
    },
    {
      provide: RULE_LISTENER,
      useFactory: (
        metrics: LimitsMetrics,
        refusals: RefusalLog,
        windows: Windows,
        overrides: Overrides,
        config: LiveConfig,
        blocks?: AddressBlocks,
      ) => {
        const factorOf = (rule: string, key: string) => overrides.factorOf(config.current.rules.rules, rule, key);
        return reportDecisions(metrics, refusals, windows, factorOf, blocks);
      },
      inject: [LimitsMetrics, RefusalLog, MemoryRateLimiter, Overrides, LiveConfig, AddressBlocks],
    },
  ],
  exports: [RefusalLog, RecentRequests, RequestLog, RULE_LISTENER],
})
export class ReportsModule {}
