import type { RuleListener } from '@headgate/limit-rules';
import { CapLedger, RateLimiter } from '@headgate/limits-core';
import type { DecisionListener } from '@headgate/limits-nest';
import { Module } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import { DECISION_LISTENER, LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { RecentRequests } from '../reports/recent-requests.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { ReportsModule, RULE_LISTENER } from '../reports/reports.module.js';
import { RequestLog } from '../reports/request-log.js';
import { Overrides } from '../state/overrides.js';
import { type CapOptions, Caps, type CountFreshness } from './caps.js';
import { ReloadConfig } from './reload-config.js';
import { HeldCounts, RemoteCaps } from './remote-caps.js';
import { RemoteRules } from './remote-rules.js';
import { Rules } from './rules.js';

/** The embedded homeserver counts immediately, so it is asked each time; an upstream's counts are cached. */
function freshnessOf({ current: { gateway } }: LiveConfig): CountFreshness {
  if (gateway.upstream === undefined) return { maxAgeMs: 0, maxRefusalAgeMs: 0 };
  return { maxAgeMs: gateway.reconcile_ms, maxRefusalAgeMs: 1_000 };
}

/** The bounds of single requests, which hold nothing. */
const SINGLE_REQUEST_BOUNDS = ['longest_delay', 'media_upload', 'federation_pdus', 'federation_transaction_id'];

/** The rates and caps, with the settings in force. */
@Module({
  imports: [MetricsModule, ReportsModule],
  providers: [
    {
      provide: Rules,
      useFactory: (
        store: RateLimiter,
        config: LiveConfig,
        listener: RuleListener,
        overrides: Overrides,
        requests?: RequestLog,
        recent?: RecentRequests,
        main?: MainLink,
      ) =>
        main
          ? new RemoteRules(store, config, main)
          : new Rules(store, config, listener, { recorder: requests, observer: recent, overrides }),
      inject: [RateLimiter, LiveConfig, RULE_LISTENER, Overrides, RequestLog, RecentRequests, MAIN_LINK],
    },
    {
      provide: Caps,
      useFactory: (
        ledger: CapLedger,
        config: LiveConfig,
        watch: DecisionListener,
        refusals: RefusalLog,
        metrics: LimitsMetrics,
        overrides: Overrides,
        counts: HeldCounts,
        main?: MainLink,
      ) => {
        const options: CapOptions = {
          watch,
          limitOf: (cap, userId) => overrides.capOf(cap, userId),
          onLookup: (isHit) => metrics.recordLookup('counts', isHit),
          onRefused: (cap, refused) => refusals.cap(cap, refused),
        };
        const freshness = freshnessOf(config);
        return main
          ? new RemoteCaps(main, counts, { ledger, config, freshness, options })
          : new Caps(ledger, config, freshness, options);
      },
      inject: [CapLedger, LiveConfig, DECISION_LISTENER, RefusalLog, LimitsMetrics, Overrides, HeldCounts, MAIN_LINK],
    },
    { provide: HeldCounts, useFactory: () => new HeldCounts() },
    ReloadConfig,
  ],
  exports: [Rules, Caps, HeldCounts, ReloadConfig],
})
export class RulesModule {
  constructor(metrics: LimitsMetrics, config: LiveConfig, caps: Caps) {
    metrics.declareRates(config.current.rules.rules.map(({ name }) => name));
    metrics.declareRules([...caps.ledger.caps.map(({ name }) => name), ...SINGLE_REQUEST_BOUNDS]);
  }
}
