import { CapLedger, RateLimiter } from '@headgate/limits-core';
import type { DecisionListener } from '@headgate/limits-nest';
import { Module } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { DECISION_LISTENER, RULE_LISTENER } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { Caps, type CountFreshness } from './caps.js';
import { ReloadConfig } from './reload-config.js';
import type { RuleListener } from './rule.js';
import { Rules } from './rules.js';

/** The embedded homeserver counts at once, so it is asked each time; an upstream's counts are cached. */
function freshnessOf({ current: { gateway } }: LiveConfig): CountFreshness {
  if (gateway.upstream === undefined) return { maxAgeMs: 0, maxRefusalAgeMs: 0 };
  return { maxAgeMs: gateway.reconcile_ms, maxRefusalAgeMs: 1_000 };
}

/** The rates and caps, with the settings in force. */
@Module({
  imports: [MetricsModule],
  providers: [
    {
      provide: Rules,
      useFactory: (store: RateLimiter, config: LiveConfig, listener: RuleListener) =>
        new Rules(store, config, listener),
      inject: [RateLimiter, LiveConfig, RULE_LISTENER],
    },
    {
      provide: Caps,
      useFactory: (ledger: CapLedger, config: LiveConfig, watch: DecisionListener) =>
        new Caps(ledger, config, freshnessOf(config), { watch }),
      inject: [CapLedger, LiveConfig, DECISION_LISTENER],
    },
    ReloadConfig,
  ],
  exports: [Rules, Caps, ReloadConfig],
})
export class RulesModule {}
