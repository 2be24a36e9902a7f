import { Body, Controller, HttpCode, Param, Post, Query } from '@nestjs/common';
import { vm } from '@headgate/access';
import { AcceptedView, BackUpVmDto, ChangeQuery, InstancePath, type PlanView } from '@headgate/api-contracts';
import { BackUpVm } from '@headgate/backups';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';

@Controller('api/ext/vms/:ns/:name/backup')
export class BackupsController {
  constructor(private readonly backUpVm: BackUpVm) {}

  @Needs(vm('change'))
  @Post()
  @Describe(
    'Backs up all disks of a VM as they are at one moment, as a task. A VM that runs goes on running.',
    answer(202, AcceptedView),
  )
  @HttpCode(202)
  backUp(
    @Param() path: InstancePath,
    @Body() { target }: BackUpVmDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    return request.answer(query, this.backUpVm, [instanceQuery('vm', path, query), target], (task) => ({ task }));
  }
}
