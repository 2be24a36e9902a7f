import { Controller, Get, Param, Query } from '@nestjs/common';
import { vm } from '@headgate/access';
import { HistoryQuery, InstancePath, UsageHistoryView } from '@headgate/api-contracts';
import { FleetReader } from '@headgate/fleet';
import { ReadHistory } from '@headgate/metrics';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentHistory } from './present-history.js';

/** The resource usage of VMs over ranges of up to 30 days. Never asks a backend. */
@Controller('api/ext/vms/:ns/:name/metrics')
export class UsageHistoryController {
  constructor(
    private readonly history: ReadHistory,
    private readonly fleet: FleetReader,
  ) {}

  @Needs(vm('read'))
  @Get('history')
  @Describe(
    'The averages and maxima of the usage in the last hour, 24 hours, 7 days or 30 days, in steps of 15 seconds, 3 minutes, 15 minutes or an hour.',
    answer(200, UsageHistoryView),
  )
  async read(@Param() path: InstancePath, @Query() query: HistoryQuery): Promise<UsageHistoryView> {
    this.fleet.expectSomeContext();
    return presentHistory(await this.history.read(instanceQuery('vm', path, query), query.range ?? '1h'));
  }
}
