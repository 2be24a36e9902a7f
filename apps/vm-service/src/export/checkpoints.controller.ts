import { Body, Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { vm } from '@headgate/access';
import {
  ChangeQuery,
  CheckpointPath,
  CheckpointView,
  ContextQuery,
  EmptyBody,
  InstancePath,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { DeleteCheckpoint, ListCheckpoints } from '@headgate/instances';
import { instanceQuery } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

/** The checkpoints of VMs. An export creates them. */
@Controller('api/ext/vms/:ns/:name/checkpoints')
export class CheckpointsController {
  constructor(
    private readonly listCheckpoints: ListCheckpoints,
    private readonly deleteCheckpoint: DeleteCheckpoint,
  ) {}

  @Needs(vm('read'))
  @Get()
  @Describe(
    "The moments since which the changes of a VM's boot disk are recorded, the oldest first.",
    answerList(200, CheckpointView),
  )
  async list(@Param() path: InstancePath, @Query() query: ContextQuery): Promise<CheckpointView[]> {
    return [...(await this.listCheckpoints.list(instanceQuery('vm', path, query)))];
  }

  @Needs(vm('change'))
  @Delete(':checkpoint')
  @Describe('Deletes a checkpoint. The others stay as they are.', answer(200, StatusView))
  delete(
    @Param() path: CheckpointPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    const args = [instanceQuery('vm', path, query), path.checkpoint] as const;
    return request.answer(query, this.deleteCheckpoint, [...args], () => ({ status: 'deleted' }));
  }
}
