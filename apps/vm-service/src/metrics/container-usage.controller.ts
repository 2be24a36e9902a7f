import { Controller, Get, Param, Query } from '@nestjs/common';
import { ct } from '@headgate/access';
import { ContextQuery, HistoryQuery, InstancePath, MetricsView, UsageHistoryView } from '@headgate/api-contracts';
import { FleetReader } from '@headgate/fleet';
import { ReadHistory, ReadMetrics } from '@headgate/metrics';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentHistory } from './present-history.js';
import { presentLive } from './present-live.js';

/** The resource usage of containers: current, and over ranges of up to 30 days. Never asks a backend. */
@Controller('api/ext/cts/:ns/:name/metrics')
export class ContainerUsageController {
  constructor(
    private readonly metrics: ReadMetrics,
    private readonly readHistory: ReadHistory,
    private readonly fleet: FleetReader,
  ) {}

  @Needs(ct('read'))
  @Get()
  @Describe(
    'The current CPU, memory, disk and network usage of a container; unknown values are null.',
    answer(200, MetricsView),
  )
  live(@Param() path: InstancePath, @Query() query: ContextQuery): MetricsView {
    return presentLive(this.metrics.live(instanceQuery('ct', path, query)));
  }

  @Needs(ct('read'))
  @Get('history')
  @Describe(
    'The averages and maxima of the usage in the last hour, 24 hours, 7 days or 30 days, in steps of 15 seconds, 3 minutes, 15 minutes or an hour.',
    answer(200, UsageHistoryView),
  )
  async history(@Param() path: InstancePath, @Query() query: HistoryQuery): Promise<UsageHistoryView> {
    this.fleet.expectSomeContext();
    return presentHistory(await this.readHistory.read(instanceQuery('ct', path, query), query.range ?? '1h'));
  }
}
