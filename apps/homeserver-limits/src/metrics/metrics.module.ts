import { MemoryRateLimiter } from '@headgate/limits-core';
import { Inject, Module, Optional } from '@nestjs/common';
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
      useFactory: ({ current: { operator } }: LiveConfig) =>
        operator.listen === undefined ? undefined : new DecisionHistory(),
      inject: [LiveConfig],
    },
    {
      provide: LimitsMetrics,
      useFactory: (windows: MemoryRateLimiter, history?: DecisionHistory) => new LimitsMetrics(windows, history),
      inject: [MemoryRateLimiter, DecisionHistory],
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
