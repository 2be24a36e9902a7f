import { MemoryRateLimiter } from '@headgate/limits-core';
import { Inject, Module, Optional } from '@nestjs/common';
import type { SharedStore } from '../state/shared-store.js';
import { SHARED_STORE } from '../state/shared-store.token.js';
import { DECISION_LISTENER, LimitsMetrics } from './limits-metrics.js';
import { MetricsController } from './metrics.controller.js';

@Module({
  controllers: [MetricsController],
  providers: [
    {
      provide: LimitsMetrics,
      useFactory: (windows: MemoryRateLimiter) => new LimitsMetrics(windows),
      inject: [MemoryRateLimiter],
    },
    { provide: DECISION_LISTENER, useFactory: (metrics: LimitsMetrics) => metrics.watch, inject: [LimitsMetrics] },
  ],
  exports: [LimitsMetrics, DECISION_LISTENER],
})
export class MetricsModule {
  constructor(metrics: LimitsMetrics, @Optional() @Inject(SHARED_STORE) shared: SharedStore | undefined) {
    if (shared) metrics.showShared(shared.inUse);
  }
}
