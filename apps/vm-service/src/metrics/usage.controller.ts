import { Controller, Get, Param, Query } from '@nestjs/common';
import { vm } from '@headgate/access';
import { ContextQuery, InstancePath, MetricsSampleView, MetricsView } from '@headgate/api-contracts';
import { FleetReader } from '@headgate/fleet';
import { ReadMetrics } from '@headgate/metrics';
import { instanceQuery } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { presentUsage } from '../fleet/present-usage.js';
import { presentLive } from './present-live.js';

/** The resource usage of VMs, from the samples in memory. */
@Controller('api/vms/:ns/:name/metrics')
export class UsageController {
  constructor(
    private readonly metrics: ReadMetrics,
    private readonly fleet: FleetReader,
  ) {}

  @Needs(vm('read'))
  @Get()
  @Describe(
    'The current CPU, memory, disk and network usage of a VM; unknown values are null.',
    answer(200, MetricsView),
  )
  live(@Param() path: InstancePath, @Query() query: ContextQuery): MetricsView {
    return presentLive(this.metrics.live(instanceQuery('vm', path, query)));
  }

  @Needs(vm('read'))
  @Get('history')
  @Describe('The samples of the last hour, oldest first; about one in 15 seconds.', answerList(200, MetricsSampleView))
  history(@Param() path: InstancePath, @Query() query: ContextQuery): MetricsSampleView[] {
    this.fleet.expectSomeContext();
    const samples = this.metrics.history(instanceQuery('vm', path, query));
    return samples.map((sample) => ({ t: sample.time, ...presentUsage(sample) }));
  }
}
