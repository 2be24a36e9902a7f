import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ChangeQuery,
  CreateContainerDto,
  InstanceActionPath,
  InstancePath,
  ListQuery,
  type ContextQuery,
  ContainerView,
  CreatedView,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { DomainError, formatRef, type Caller, type InstanceQuery } from '@headgate/domain-contracts';
import { CONTAINER_ACTIONS, RunContainer, type ContainerAction } from '@headgate/instances';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller } from '../identity/caller.decorator.js';
import { EventStreams } from '../instances/event-stream.js';
import { ListReader } from '../instances/list-reader.js';
import { answerPlan, isRehearsal } from '../instances/plan-view.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

const ct = ({ ns, name }: InstancePath, { context }: ContextQuery): InstanceQuery => ({
  kind: 'ct',
  namespace: ns,
  name,
  context,
});

@Controller('api/cts')
export class ContainersController {
  constructor(
    private readonly lists: ListReader,
    private readonly streams: EventStreams,
    private readonly containers: RunContainer,
  ) {}

  @Get()
  @Describe(
    'All containers of all contexts; with Accept: text/event-stream a snapshot and then each change.',
    answerList(200, ContainerView),
    answer(200, 'text/event-stream'),
  )
  list(@Query() query: ListQuery, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const wantsStream = request.headers.accept?.includes('text/event-stream');
    return wantsStream ? this.streams.begin('ct', reply) : this.lists.answer('ct', query, request, reply);
  }

  @Post()
  @Describe('Makes a container with a persistent data volume.', answer(201, CreatedView))
  async create(
    @Body() body: CreateContainerDto,
    @Query() query: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreatedView | PlanView> {
    if (isRehearsal(query)) return answerPlan(reply, await this.containers.planCreate(body));
    const ref = await this.containers.create(body, caller);
    return { name: ref.name, namespace: ref.namespace, ref: formatRef(ref) };
  }

  @Post(':ns/:name/:action')
  @Describe('Starts a container from its recorded spec, or stops it and keeps its data.', answer(200, StatusView))
  @HttpCode(200)
  async act(
    @Param() path: InstanceActionPath,
    @Query() query: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StatusView | PlanView> {
    const action = containerAction(path.action);
    if (isRehearsal(query)) return answerPlan(reply, await this.containers.planAction(ct(path, query), action));
    await this.containers.act(ct(path, query), action, caller);
    return { status: 'ok' };
  }

  @Delete(':ns/:name')
  @Describe('Removes a container with its data volume.', answer(200, StatusView))
  async delete(
    @Param() path: InstancePath,
    @Query() query: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StatusView | PlanView> {
    if (isRehearsal(query)) return answerPlan(reply, await this.containers.planDelete(ct(path, query)));
    await this.containers.delete(ct(path, query), caller);
    return { status: 'deleted' };
  }
}

function containerAction(text: string): ContainerAction {
  const action = CONTAINER_ACTIONS.find((one) => one === text);
  if (action) return action;
  throw new DomainError(
    'UNKNOWN_ACTION',
    `The action must be one of ${CONTAINER_ACTIONS.join(', ')}; "${text.slice(0, 40)}" is not.`,
  );
}
