import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { everything, may, visibleInstances, vm } from '@headgate/access';
import {
  AcceptedView,
  ChangeQuery,
  ContextQuery,
  CreatedView,
  CreateVmDto,
  EmptyBody,
  VmActionPath,
  InstanceEventView,
  InstancePath,
  ListQuery,
  MigrateVmDto,
  PowerQuery,
  StatusView,
  TagDto,
  VmView,
  type PlanView,
} from '@headgate/api-contracts';
import {
  BackendDirectory,
  findInstance,
  InstanceDirectory,
  POWER_ACTIONS,
  type Caller,
  type Json,
} from '@headgate/domain-contracts';
import { ApplyPower, CreateVm, DeleteVm, MigrateVm, ReadEvents, TagVm } from '@headgate/instances';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { InstanceAccess } from '../identity/instance-access.js';
import { ListReader } from '../fleet/list-reader.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { expectAction, instanceQuery, presentCreated } from './instance-request.js';

@Controller('api/vms')
export class VmsController {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly access: InstanceAccess,
    private readonly backends: BackendDirectory,
    private readonly lists: ListReader,
    private readonly createVm: CreateVm,
    private readonly deleteVm: DeleteVm,
    private readonly applyPower: ApplyPower,
    private readonly migrateVm: MigrateVm,
    private readonly tagVm: TagVm,
    private readonly readEvents: ReadEvents,
  ) {}

  @Needs(visibleInstances)
  @Get()
  @Describe(
    'All VMs of all contexts; with Accept: text/event-stream, a snapshot and then each change.',
    answerList(200, VmView, 'svc-cursor', 'etag', 'svc-partial', 'svc-gap'),
    answer(200, 'text/event-stream'),
  )
  list(@Query() query: ListQuery, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.lists.answer('vm', query, request, reply);
  }

  // The right of a token to create is not one to change the members of a folder. A role in the folder is, but neither
  // for a volume that may be of anyone nor for a build, which runs the image as root.
  @Needs(everything('create', { folder: { action: 'change', field: 'folder', unless: ['pvc', 'bootc'] } }))
  @Post()
  @Describe(
    'Creates a VM from exactly one source. A disk from a bootc image is built first, which is 202.',
    answer(201, CreatedView),
    answer(202, AcceptedView),
  )
  create(
    @Body() body: CreateVmDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreatedView | AcceptedView | PlanView> {
    return request.answer(query, this.createVm, [body], (created) => {
      if (created.buildTask === undefined) return presentCreated(created);
      void reply.status(202);
      return { task: created.buildTask };
    });
  }

  @Needs(vm('read'))
  @Get(':ns/:name')
  @Describe(
    "The backend's own object; secrets are masked for callers who are not administrators.",
    answer(200, 'application/json'),
  )
  async manifest(
    @Param() path: InstancePath,
    @Query() query: ContextQuery,
    @CurrentCaller() caller: Caller,
  ): Promise<Json> {
    const { directory, backends } = this;
    const found = findInstance({ directory, backends }, instanceQuery('vm', path, query), 'inventory');
    const masked = !may(caller.grant, vm('secrets'), { instance: this.access.subjectOf(found.instance) });
    return found.ability.manifest(found.ref, { masked });
  }

  @Needs(vm('read'))
  @Get(':ns/:name/events')
  @Describe(
    'The last 50 events of the backend and actions of this service, newest first.',
    answerList(200, InstanceEventView),
  )
  async events(@Param() path: InstancePath, @Query() query: ContextQuery): Promise<InstanceEventView[]> {
    return [...(await this.readEvents.read(instanceQuery('vm', path, query)))];
  }

  @Needs(vm('delete'))
  @Delete(':ns/:name')
  @Describe('Deletes a VM with everything that belongs to it.', answer(200, StatusView))
  delete(
    @Param() path: InstancePath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deleteVm, [instanceQuery('vm', path, query)], () => ({ status: 'deleted' }));
  }

  // On libvirt, a node is another context, where a token or a role may allow nothing.
  @Needs(vm('change', { also: { action: 'change' } }))
  @Post(':ns/:name/migrate')
  @Describe('Moves a running VM to another node.', answer(202, AcceptedView))
  @HttpCode(202)
  migrate(
    @Param() path: InstancePath,
    @Body() { targetNode }: MigrateVmDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    const vm = instanceQuery('vm', path, query);
    return request.answer(query, this.migrateVm, [vm, targetNode], (task) => ({ task, status: 'ok' }));
  }

  @Needs(vm('change'))
  @Post(':ns/:name/tags')
  @Describe('Adds or removes a tag.', answer(200, TagDto))
  @HttpCode(200)
  tag(
    @Param() path: InstancePath,
    @Body() { tag, on }: TagDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<TagDto | PlanView> {
    return request.answer(query, this.tagVm, [instanceQuery('vm', path, query), tag, on], () => ({ tag, on }));
  }

  @Needs(vm('power'))
  @Post(':ns/:name/:action')
  @Describe('Power: start, stop, restart, pause, unpause.', answer(200, StatusView))
  @HttpCode(200)
  async act(
    @Param() path: VmActionPath,
    @Body() _body: EmptyBody,
    @Query() query: PowerQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    const vm = instanceQuery('vm', path, query);
    const action = expectAction(path.action, POWER_ACTIONS, [...POWER_ACTIONS, 'migrate']);
    const force = query.force === 'true';
    return request.answer(query, this.applyPower, [vm, action, { force }], () => ({ status: 'ok' }));
  }
}
