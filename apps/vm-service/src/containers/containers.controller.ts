import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ct, everything, visibleInstances } from '@headgate/access';
import {
  ChangeQuery,
  ContainerView,
  CreateContainerDto,
  CreatedView,
  EmptyBody,
  ContainerActionPath,
  InstancePath,
  ListQuery,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { ApplyContainerPower, CONTAINER_ACTIONS, CreateContainer, DeleteContainer } from '@headgate/instances';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expectAction, instanceQuery, presentCreated } from '../instances/instance-request.js';
import { ListReader } from '../fleet/list-reader.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

@Controller('api/cts')
export class ContainersController {
  constructor(
    private readonly lists: ListReader,
    private readonly createContainer: CreateContainer,
    private readonly applyPower: ApplyContainerPower,
    private readonly deleteContainer: DeleteContainer,
  ) {}

  @Needs(visibleInstances)
  @Get()
  @Describe(
    'All containers of all contexts; with Accept: text/event-stream, a snapshot and then each change.',
    answerList(200, ContainerView, 'svc-cursor', 'etag', 'svc-partial', 'svc-gap'),
    answer(200, 'text/event-stream'),
  )
  list(@Query() query: ListQuery, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.lists.answer('ct', query, request, reply);
  }

  @Needs(everything('create', { folder: { action: 'change', field: 'folder', unless: ['privileged'] } }))
  @Post()
  @Describe('Creates a container with a persistent data volume.', answer(201, CreatedView))
  create(
    @Body() body: CreateContainerDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedView | PlanView> {
    return request.answer(query, this.createContainer, [body], presentCreated);
  }

  @Needs(ct('power'))
  @Post(':ns/:name/:action')
  @Describe('Starts a container from its recorded spec, or stops it and keeps its data.', answer(200, StatusView))
  @HttpCode(200)
  async act(
    @Param() path: ContainerActionPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    const action = expectAction(path.action, CONTAINER_ACTIONS);
    return request.answer(query, this.applyPower, [instanceQuery('ct', path, query), action], () => ({ status: 'ok' }));
  }

  @Needs(ct('delete'))
  @Delete(':ns/:name')
  @Describe('Deletes a container and its data volume.', answer(200, StatusView))
  delete(
    @Param() path: InstancePath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deleteContainer, [instanceQuery('ct', path, query)], () => ({
      status: 'deleted',
    }));
  }
}
