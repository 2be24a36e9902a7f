import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BackendDirectory, Clock, InstanceDirectory } from '@headgate/domain-contracts';
import { MetricsSampler, ReadHistory, ReadMetrics, UsageHistory } from '@headgate/metrics';
import { FleetModule } from '../fleet/fleet.module.js';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import { provideClass } from '../platform/provide-class.js';
import { CONTEXTS } from '../platform/tokens.js';
import { ContainerUsageController } from './container-usage.controller.js';
import { UsageHistoryController } from './usage-history.controller.js';
import { UsageController } from './usage.controller.js';

/** The resource usage of VMs and containers: current values, and their history. */
@Module({
  imports: [FleetModule],
  controllers: [UsageController, UsageHistoryController, ContainerUsageController],
  providers: [
    provideClass(ReadMetrics, [InstanceDirectory, BackendDirectory, MetricsSampler]),
    {
      provide: ReadHistory,
      inject: [InstanceDirectory, MetricsSampler, UsageHistory, Clock, CONTEXTS],
      useFactory: (
        directory: InstanceDirectory,
        sampler: MetricsSampler,
        history: UsageHistory,
        clock: Clock,
        { simulatedUsage }: Pick<ChosenContexts, 'simulatedUsage'>,
      ) => new ReadHistory(directory, sampler, history, clock, simulatedUsage),
    },
  ],
})
export class MetricsModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly sampler: MetricsSampler,
    private readonly history: UsageHistory,
  ) {}

  onApplicationBootstrap(): void {
    this.sampler.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.sampler.stop();
    await this.history.close();
  }
}
