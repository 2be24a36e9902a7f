import { Body, Controller, HttpCode, Param, Post, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import {
  DrainAcceptedView,
  DrainDto,
  DrainPlanView,
  EmptyBody,
  NodeChangeQuery,
  NodePath,
  NodeStatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { CordonNode, DEFAULT_LEAVING_AT_ONCE, DrainNode, type DrainPlan } from '@headgate/instances';
import { answer, Describe, planAnswer } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest, presentPlan } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';

/** Changes of nodes. They concern the instances of every user. */
@Controller('api/ext/nodes/:name')
export class NodesController {
  constructor(
    private readonly cordonNode: CordonNode,
    private readonly drainNode: DrainNode,
  ) {}

  @Needs(everything('manage', { doing: 'Cordoning nodes' }))
  @Post('cordon')
  @Describe('Cordons a node: nothing new is started on it, and what runs on it runs on.', answer(200, NodeStatusView))
  @HttpCode(200)
  cordon(
    @Param() path: NodePath,
    @Body() _body: EmptyBody,
    @Query() query: NodeChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<NodeStatusView | PlanView> {
    return request.answer(query, this.cordonNode, [query.context, path.name, false], presentChanged);
  }

  @Needs(everything('manage', { doing: 'Uncordoning nodes' }))
  @Post('uncordon')
  @Describe('Uncordons a node. A drain of it that goes on ends.', answer(200, NodeStatusView))
  @HttpCode(200)
  uncordon(
    @Param() path: NodePath,
    @Body() _body: EmptyBody,
    @Query() query: NodeChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<NodeStatusView | PlanView> {
    return request.answer(query, this.cordonNode, [query.context, path.name, true], presentChanged);
  }

  @Needs(everything('manage', { doing: 'Draining nodes' }))
  @Post('drain')
  @Describe(
    'Cordons a node and gets its instances off it, as a bulk task: VMs migrate while their guests run, containers are restarted elsewhere. The pods of others are not touched.',
    answer(202, DrainAcceptedView),
    planAnswer(200, DrainPlanView),
  )
  @HttpCode(202)
  drain(
    @Param() { name }: NodePath,
    @Body() { atOnce = DEFAULT_LEAVING_AT_ONCE, stopOnError = false, skipRefused = false }: DrainDto,
    @Query() query: NodeChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<DrainAcceptedView | DrainPlanView> {
    const drain = { context: query.context, node: name, atOnce, stopOnError, skipRefused };
    return request.answerWith(query, this.drainNode, [drain], {
      result: ({ task, plan }) => ({ ...(task !== undefined && { task }), plan: present(plan) }),
      plan: present,
    });
  }
}

const presentChanged = (changed: boolean): NodeStatusView => ({ changed });

const present = ({ ok, members, others, unchecked, ...plan }: DrainPlan): DrainPlanView => ({
  ...presentPlan(plan),
  ok,
  members: members.map((member) => ({
    ref: member.ref,
    ok: member.ok,
    way: member.way,
    nodes: [...member.nodes],
    unchecked: [...member.unchecked],
    ...presentPlan(member),
  })),
  others,
  unchecked: [...unchecked],
});
