import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ct } from '@headgate/access';
import {
  ChangeQuery,
  CloneContainerDto,
  ClonedView,
  ContainerSnapshotPath,
  ContextQuery,
  ContinuedView,
  CreateContainerSnapshotDto,
  CreatedSnapshotView,
  EmptyBody,
  InstancePath,
  SnapshotView,
  type PlanView,
} from '@headgate/api-contracts';
import { formatRef } from '@headgate/domain-contracts';
import { CloneVm, CreateSnapshot, DeleteSnapshot, ListSnapshots, RestoreSnapshot } from '@headgate/instances';
import { instanceQuery } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

/** Snapshots and clones of containers, by the use cases of those of VMs. */
@Controller('api/ext/cts/:ns/:name')
export class ContainerSnapshotsController {
  constructor(
    private readonly listSnapshots: ListSnapshots,
    private readonly createSnapshot: CreateSnapshot,
    private readonly restoreSnapshot: RestoreSnapshot,
    private readonly deleteSnapshot: DeleteSnapshot,
    private readonly cloneVm: CloneVm,
  ) {}

  @Needs(ct('read'))
  @Get('snapshots')
  @Describe('The snapshots of a container, the oldest first.', answerList(200, SnapshotView))
  async list(@Param() path: InstancePath, @Query() query: ContextQuery): Promise<SnapshotView[]> {
    return [...(await this.listSnapshots.list(instanceQuery('ct', path, query)))];
  }

  @Needs(ct('change'))
  @Post('snapshots')
  @Describe('Saves the files of a container, which continues to run.', answer(200, CreatedSnapshotView))
  @HttpCode(200)
  create(
    @Param() path: InstancePath,
    @Body() body: CreateContainerSnapshotDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedSnapshotView | PlanView> {
    return request.answer(query, this.createSnapshot, [instanceQuery('ct', path, query), body], (created) => created);
  }

  @Needs(ct('change'))
  @Post('snapshots/:snap/restore')
  @Describe(
    'Returns the files to a snapshot. The container is stopped for it, and started again if it ran.',
    answer(200, ContinuedView),
  )
  @HttpCode(200)
  restore(
    @Param() path: ContainerSnapshotPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ContinuedView | PlanView> {
    const container = instanceQuery('ct', path, query);
    return request.answer(query, this.restoreSnapshot, [container, path.snap, undefined], (task) => ({
      status: 'restoring',
      task,
    }));
  }

  @Needs(ct('change'))
  @Delete('snapshots/:snap')
  @Describe(
    'Deletes a snapshot. The files of the container and of its other snapshots stay.',
    answer(200, ContinuedView),
  )
  delete(
    @Param() path: ContainerSnapshotPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ContinuedView | PlanView> {
    const container = instanceQuery('ct', path, query);
    return request.answer(query, this.deleteSnapshot, [container, path.snap, undefined], (task) => ({
      status: 'deleted',
      task,
    }));
  }

  // The copy is in no folder, and it has everything that is in the source.
  @Needs(ct('change', { also: { action: 'create' } }))
  @Post('clone')
  @Describe('Copies a container with its files, with an identity of its own.', answer(200, ClonedView))
  @HttpCode(200)
  clone(
    @Param() path: InstancePath,
    @Body() { target }: CloneContainerDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ClonedView | PlanView> {
    return request.answer(query, this.cloneVm, [instanceQuery('ct', path, query), target], ({ ref, task }) => ({
      target: ref.name,
      ref: formatRef(ref),
      task,
    }));
  }
}
