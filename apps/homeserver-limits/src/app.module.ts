import { type DynamicModule, Module } from '@nestjs/common';
import { Dispatcher } from './edge/dispatcher.js';
import { MatrixController } from './edge/matrix.controller.js';
import { LimitsMetrics } from './metrics/limits-metrics.js';
import { MetricsController } from './metrics/metrics.controller.js';

/** The edge: one controller for every Matrix request, one for the exposition. */
@Module({})
export class AppModule {
  static over(dispatcher: Dispatcher, metrics: LimitsMetrics): DynamicModule {
    return {
      module: AppModule,
      controllers: [MatrixController, MetricsController],
      providers: [
        { provide: Dispatcher, useValue: dispatcher },
        { provide: LimitsMetrics, useValue: metrics },
      ],
    };
  }
}
