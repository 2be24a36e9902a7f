import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ChangeQuery,
  ContextQuery,
  CreateVmDto,
  InstanceActionPath,
  InstancePath,
  ListQuery,
  MigrateVmDto,
  PowerQuery,
  TagDto,
  AcceptedView,
  CreatedView,
  StatusView,
  VmView,
  type PlanView,
} from '@headgate/api-contracts';
import {
  BackendDirectory,
  DomainError,
  formatRef,
  POWER_ACTIONS,
  type Caller,
  type InstanceQuery,
  type Json,
  type PowerAction,
} from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { ApplyPower, CreateVm, DeleteVm, MigrateVm, TagVm } from '@headgate/instances';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller } from '../identity/caller.decorator.js';
import { EventStreams } from './event-stream.js';
import { ListReader } from './list-reader.js';
import { answerPlan, isRehearsal } from './plan-view.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

const vm = ({ ns, name }: InstancePath, { context }: ContextQuery): InstanceQuery => ({
  kind: 'vm',
  namespace: ns,
  name,
  context,
});
const OK: StatusView = { status: 'ok' };

@Controller('api/vms')
export class VmsController {
  constructor(
    private readonly fleet: Fleet,
    private readonly backends: BackendDirectory,
    private readonly lists: ListReader,
    private readonly streams: EventStreams,
    private readonly createVm: CreateVm,
    private readonly deleteVm: DeleteVm,
    private readonly applyPower: ApplyPower,
    private readonly migrateVm: MigrateVm,
    private readonly tagVm: TagVm,
  ) {}

  @Get()
  @Describe(
    'All VMs of all contexts; with Accept: text/event-stream a snapshot and then each change.',
    answerList(200, VmView),
    answer(200, 'text/event-stream'),
  )
  list(@Query() query: ListQuery, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const wantsStream = request.headers.accept?.includes('text/event-stream');
    return wantsStream ? this.streams.begin('vm', reply) : this.lists.answer('vm', query, request, reply);
  }

  @Post()
  @Describe('Makes a VM from exactly one source.', answer(201, CreatedView))
  async create(
    @Body() body: CreateVmDto,
    @Query() query: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreatedView | PlanView> {
    if (isRehearsal(query)) return answerPlan(reply, await this.createVm.plan(body));
    const { ref, task } = await this.createVm.run(body, caller);
    return { name: ref.name, namespace: ref.namespace, ref: formatRef(ref), ...(task === undefined ? {} : { task }) };
  }

  @Get(':ns/:name')
  @Describe(
    "The backend's own object; secrets in it are masked for callers who are no administrators.",
    answer(200, 'application/json'),
  )
  manifest(@Param() path: InstancePath, @Query() query: ContextQuery, @CurrentCaller() caller: Caller): Promise<Json> {
    const { ref } = this.fleet.resolve(vm(path, query));
    return this.backends.get(ref.context).need('inventory').manifest(ref, { masked: !caller.admin });
  }

  @Delete(':ns/:name')
  @Describe('Removes a VM with everything that belongs to it.', answer(200, StatusView))
  async delete(
    @Param() path: InstancePath,
    @Query() query: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StatusView | PlanView> {
    if (isRehearsal(query)) return answerPlan(reply, await this.deleteVm.plan(vm(path, query)));
    await this.deleteVm.run(vm(path, query), caller);
    return { status: 'deleted' };
  }

  @Post(':ns/:name/migrate')
  @Describe('Moves a running VM to another node.', answer(202, AcceptedView))
  @HttpCode(202)
  async migrate(
    @Param() path: InstancePath,
    @Body() { targetNode }: MigrateVmDto,
    @Query() query: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedView | PlanView> {
    if (isRehearsal(query)) return answerPlan(reply, await this.migrateVm.plan(vm(path, query), targetNode));
    return { task: await this.migrateVm.run(vm(path, query), targetNode, caller), status: 'ok' };
  }

  @Post(':ns/:name/tags')
  @Describe('Adds a tag, or takes it away.', answer(200, TagDto))
  @HttpCode(200)
  async tag(
    @Param() path: InstancePath,
    @Body() { tag, on }: TagDto,
    @Query() query: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TagDto | PlanView> {
    if (isRehearsal(query)) return answerPlan(reply, await this.tagVm.plan(vm(path, query), tag, on));
    await this.tagVm.run(vm(path, query), tag, on, caller);
    return { tag, on };
  }

  @Post(':ns/:name/:action')
  @Describe('Power: start, stop, restart, pause, unpause.', answer(200, StatusView))
  @HttpCode(200)
  async act(
    @Param() path: InstanceActionPath,
    @Query() query: PowerQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StatusView | PlanView> {
    const action = powerAction(path.action);
    const options = { force: query.force === 'true' };
    if (isRehearsal(query)) return answerPlan(reply, await this.applyPower.plan(vm(path, query), action, options));
    await this.applyPower.run(vm(path, query), action, options, caller);
    return OK;
  }
}

function powerAction(text: string): PowerAction {
  const action = POWER_ACTIONS.find((one) => one === text);
  if (action) return action;
  throw new DomainError(
    'UNKNOWN_ACTION',
    `The action must be one of ${[...POWER_ACTIONS, 'migrate'].join(', ')}; "${text.slice(0, 40)}" is not.`,
  );
}
