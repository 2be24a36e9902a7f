import { Body, Controller, Param, Patch, Query } from '@nestjs/common';
import { ct, vm } from '@headgate/access';
import {
  ChangeQuery,
  InstancePath,
  PatchContainerDto,
  PatchedView,
  PatchVmDto,
  ScaleQuery,
  type PlanView,
} from '@headgate/api-contracts';
import { PatchInstance } from '@headgate/instances';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { instanceQuery } from './instance-request.js';
import { presentPatched, toInstancePatch } from './patch-request.js';

/** Declarations of instances, as JSON merge patches (RFC 7396). */
@Controller('api/ext')
export class PatchesController {
  constructor(private readonly patchInstance: PatchInstance) {}

  @Needs(vm('change'))
  @Patch('vms/:ns/:name')
  @Describe(
    'Changes the size, tags, protection and autostart of a VM to those of a merge patch, all of them or none.',
    answer(200, PatchedView),
  )
  patchVm(
    @Param() path: InstancePath,
    @Body() body: PatchVmDto,
    @Query() query: ScaleQuery,
    @Changing() request: ChangeRequest,
  ): Promise<PatchedView | PlanView> {
    const patch = toInstancePatch(body, query.restart !== 'false');
    return request.answer(query, this.patchInstance, [instanceQuery('vm', path, query), patch], presentPatched);
  }

  @Needs(ct('change'))
  @Patch('cts/:ns/:name')
  @Describe('Changes the tags of a container to those of a merge patch.', answer(200, PatchedView))
  patchContainer(
    @Param() path: InstancePath,
    @Body() body: PatchContainerDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<PatchedView | PlanView> {
    const patch = toInstancePatch(body, false);
    return request.answer(query, this.patchInstance, [instanceQuery('ct', path, query), patch], presentPatched);
  }
}
