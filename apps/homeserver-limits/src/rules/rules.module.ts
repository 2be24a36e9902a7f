import { CapLedger, RateLimiter } from '@headgate/limits-core';
import type { DecisionListener } from '@headgate/limits-nest';
import { Module } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { DECISION_LISTENER } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { Caps, type CountFreshness } from './caps.js';
import { Rates } from './rates.js';
import { ReloadConfig } from './reload-config.js';

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
      provide: Rates,
      useFactory: (store: RateLimiter, config: LiveConfig, watch: DecisionListener) => new Rates(store, config, watch),
      inject: [RateLimiter, LiveConfig, DECISION_LISTENER],
    },
    {
      provide: Caps,
      useFactory: (ledger: CapLedger, config: LiveConfig, watch: DecisionListener) =>
        new Caps(ledger, config, freshnessOf(config), { watch }),
      inject: [CapLedger, LiveConfig, DECISION_LISTENER],
    },
    ReloadConfig,
  ],
  exports: [Rates, Caps],
})
export class RulesModule {}
