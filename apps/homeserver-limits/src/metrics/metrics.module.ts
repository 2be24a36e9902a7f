import { MemoryRateLimiter } from '@headgate/limits-core';
import { Inject, Module, Optional } from '@nestjs/common';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import type { SharedStore } from '../state/shared-store.js';
import { SHARED_STORE } from '../state/shared-store.token.js';
import { LiveConfig } from '../config/live-config.js';
import { DecisionHistory } from './decision-history.js';
import { DECISION_LISTENER, LimitsMetrics } from './limits-metrics.js';
import { MetricsController } from './metrics.controller.js';

@Module({
  controllers: [MetricsController],
  providers: [
    {
      provide: DecisionHistory,
      useFactory: ({ current: { operator } }: LiveConfig, main?: MainLink) =>
        operator.listen === undefined || main ? undefined : new DecisionHistory(),
      inject: [LiveConfig, MAIN_LINK],
    },
    {
      provide: LimitsMetrics,
      useFactory: (windows: MemoryRateLimiter, history?: DecisionHistory, main?: MainLink) => {
        if (!main) return new LimitsMetrics(windows, history);
        const metrics = new LimitsMetrics(windows, undefined, (rule, outcome) =>
          main.notify('report', { rule, outcome }),
        );
        metrics.readWith(() => main.call('metrics', null));
        return metrics;
      },
      inject: [MemoryRateLimiter, DecisionHistory, MAIN_LINK],
    },
    { provide: DECISION_LISTENER, useFactory: (metrics: LimitsMetrics) => metrics.watch, inject: [LimitsMetrics] },
  ],
  exports: [LimitsMetrics, DecisionHistory, DECISION_LISTENER],
})
export class MetricsModule {
  constructor(metrics: LimitsMetrics, @Optional() @Inject(SHARED_STORE) shared: SharedStore | undefined) {
    if (shared) metrics.showShared(shared.inUse);
  }
}
