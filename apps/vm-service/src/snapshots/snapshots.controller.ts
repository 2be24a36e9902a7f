import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { vm } from '@headgate/access';
import {
  ChangeQuery,
  ClonedView,
  CloneVmDto,
  ContextQuery,
  ContinuedView,
  CreatedSnapshotView,
  CreateSnapshotDto,
  EmptyBody,
  InstancePath,
  SnapshotPath,
  SnapshotView,
  TemplateDto,
  TemplateView,
  type PlanView,
} from '@headgate/api-contracts';
import { formatRef } from '@headgate/domain-contracts';
import {
  CloneVm,
  CreateSnapshot,
  DeleteSnapshot,
  ListSnapshots,
  MarkTemplate,
  RestoreSnapshot,
} from '@headgate/instances';
import { instanceQuery } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

/** Snapshots, clones and templates of VMs. */
@Controller('api/vms/:ns/:name')
export class SnapshotsController {
  constructor(
    private readonly listSnapshots: ListSnapshots,
    private readonly createSnapshot: CreateSnapshot,
    private readonly restoreSnapshot: RestoreSnapshot,
    private readonly deleteSnapshot: DeleteSnapshot,
    private readonly cloneVm: CloneVm,
    private readonly markTemplate: MarkTemplate,
  ) {}

  @Needs(vm('read'))
  @Get('snapshots')
  @Describe('The snapshots of a VM, the oldest first.', answerList(200, SnapshotView))
  async list(@Param() path: InstancePath, @Query() query: ContextQuery): Promise<SnapshotView[]> {
    return [...(await this.listSnapshots.list(instanceQuery('vm', path, query)))];
  }

  @Needs(vm('change'))
  @Post('snapshots')
  @Describe('Saves the content of the disks. A running guest continues to run.', answer(200, CreatedSnapshotView))
  @HttpCode(200)
  create(
    @Param() path: InstancePath,
    @Body() body: CreateSnapshotDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedSnapshotView | PlanView> {
    return request.answer(query, this.createSnapshot, [instanceQuery('vm', path, query), body], (created) => created);
  }

  @Needs(vm('change'))
  @Post('snapshots/:snap/restore')
  @Describe(
    'Returns the disks to a snapshot. The VM is shut down for it, and started again if it ran.',
    answer(200, ContinuedView),
  )
  @HttpCode(200)
  restore(
    @Param() path: SnapshotPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ContinuedView | PlanView> {
    const vm = instanceQuery('vm', path, query);
    return request.answer(query, this.restoreSnapshot, [vm, path.snap, undefined], (task) => ({
      status: 'restoring',
      task,
    }));
  }

  @Needs(vm('change'))
  @Delete('snapshots/:snap')
  @Describe('Deletes a snapshot. The content of the VM and of its other snapshots stays.', answer(200, ContinuedView))
  delete(
    @Param() path: SnapshotPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ContinuedView | PlanView> {
    const vm = instanceQuery('vm', path, query);
    return request.answer(query, this.deleteSnapshot, [vm, path.snap, undefined], (task) => ({
      status: 'deleted',
      task,
    }));
  }

  // The copy is in no folder, and its disk has everything that is on the source's.
  @Needs(vm('change', { also: { action: 'create' } }))
  @Post('clone')
  @Describe('Copies a stopped VM or a template, with an identity of its own.', answer(200, ClonedView))
  @HttpCode(200)
  clone(
    @Param() path: InstancePath,
    @Body() { target }: CloneVmDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ClonedView | PlanView> {
    return request.answer(query, this.cloneVm, [instanceQuery('vm', path, query), target], ({ ref, task }) => ({
      target: ref.name,
      ref: formatRef(ref),
      task,
    }));
  }

  @Needs(vm('change'))
  @Post('template')
  @Describe(
    'Marks a stopped VM as a template, which can be cloned but not started, or removes the mark.',
    answer(200, TemplateView),
  )
  @HttpCode(200)
  template(
    @Param() path: InstancePath,
    @Body() { on }: TemplateDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<TemplateView | PlanView> {
    return request.answer(query, this.markTemplate, [instanceQuery('vm', path, query), on], () => ({
      isTemplate: on,
    }));
  }
}
