import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BackendDirectory, InstanceDirectory } from '@headgate/domain-contracts';
import { MetricsSampler, ReadMetrics } from '@headgate/metrics';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { UsageController } from './usage.controller.js';

/** The resource usage of VMs: current values and the history of an hour. */
@Module({
  imports: [FleetModule],
  controllers: [UsageController],
  providers: [provideClass(ReadMetrics, [InstanceDirectory, BackendDirectory, MetricsSampler])],
})
export class MetricsModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(private readonly sampler: MetricsSampler) {}

  onApplicationBootstrap(): void {
    this.sampler.start();
  }

  beforeApplicationShutdown(): void {
    this.sampler.stop();
  }
}
