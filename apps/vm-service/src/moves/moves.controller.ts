import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { everything } from '@headgate/access';
import {
  ChangeQuery,
  DestinationsQuery,
  DestinationsView,
  ErrorView,
  MoveAcceptedView,
  MoveDto,
  MovePlanView,
  MoveQueueAcceptedView,
  MoveQueuePlanView,
  RefusedMoveQueueView,
  RefusedMoveView,
} from '@headgate/api-contracts';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import {
  DEFAULT_MOVES_PER_HOST,
  ListDestinations,
  planOfRefusal,
  StartMove,
  StartQueue,
  type MovePlan,
  type MoveRequest,
  type QueuePlan,
  type QueueRequest,
} from '@headgate/moves';
import type { FastifyReply } from 'fastify';
import { findMembers } from '../bulk/find-members.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe, planAnswer } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest, presentSteps } from '../platform/change-request.js';
import { errorBody } from '../platform/domain-error.filter.js';

type PlanAnswer = MovePlanView | MoveQueuePlanView;
/** A plan that was refused, with the error body of the API. */
type Refused = PlanAnswer & { readonly error: string; readonly code: string };

@Controller('api/move')
export class MovesController {
  constructor(
    private readonly listDestinations: ListDestinations,
    private readonly startMove: StartMove,
    private readonly startQueue: StartQueue,
    private readonly fleet: FleetReader,
  ) {}

  // A move leads to another context, and may delete the source.
  @Needs(everything('read'))
  @Get('destinations')
  @Describe(
    'The contexts that VMs or containers can be moved to, and why the others receive none.',
    answer(200, DestinationsView),
  )
  async destinations(@Query() { kind = 'vm' }: DestinationsQuery): Promise<DestinationsView> {
    return { destinations: await this.listDestinations.run(kind) };
  }

  @Needs(everything('change'))
  @Post('preflight')
  @Describe(
    'The plan of a move, or of a queue of moves, with all refusals. Changes nothing.',
    answer(200, MovePlanView),
    answer(200, MoveQueuePlanView),
  )
  @HttpCode(200)
  async preflight(@Body() body: MoveDto, @CurrentCaller() caller: Caller): Promise<PlanAnswer> {
    if (isSingle(body)) return present(await this.startMove.plan(requestOf(body), undefined));
    const members = findMembers(body, this.fleet, caller);
    return presentQueue(await this.startQueue.plan(queueOf(body), members));
  }

  @Needs(everything('change'))
  @Post()
  @Describe(
    'Moves a VM or a container as a task, or several as a queue, unless a new preflight refuses it.',
    answer(200, MoveAcceptedView),
    answer(200, MoveQueueAcceptedView),
    planAnswer(200, MovePlanView),
    planAnswer(200, MoveQueuePlanView),
    answer(409, RefusedMoveView),
    answer(409, RefusedMoveQueueView),
    answer(409, ErrorView),
  )
  @HttpCode(200)
  async move(
    @Body() body: MoveDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MoveAcceptedView | MoveQueueAcceptedView | PlanAnswer | Refused> {
    try {
      if (isSingle(body))
        return await request.answerWith(query, this.startMove, [requestOf(body), undefined], {
          result: ({ task, plan }) => ({ task, plan: present(plan) }),
          plan: present,
        });
      const members = findMembers(body, this.fleet, caller);
      return await request.answerWith(query, this.startQueue, [queueOf(body), members], {
        result: ({ task, plan }) => ({ task, plan: presentQueue(plan) }),
        plan: presentQueue,
      });
    } catch (error) {
      const plan = planOfRefusal<MovePlan | QueuePlan>(error);
      if (!plan) throw error;
      const { status, body: refusal } = errorBody(error);
      void reply.status(status);
      return { ...presentAny(plan), error: refusal.error, code: refusal.code };
    }
  }
}

type SingleMove = MoveDto & { readonly ref: string };

/** @throws DomainError INVALID_INPUT unless exactly one of ref, refs and query is set */
function isSingle(body: MoveDto): body is SingleMove {
  const { ref, refs, query, name, perHost, skipRefused } = body;
  if ([ref, refs, query].filter((choice) => choice !== undefined).length !== 1)
    throw new DomainError('INVALID_INPUT', 'Exactly one of ref, refs and query must be set.');
  if (ref === undefined && name !== undefined)
    throw new DomainError('INVALID_INPUT', 'name: the VMs of a queue keep their names; omit it, or set ref.');
  if (ref !== undefined && (perHost !== undefined || skipRefused !== undefined))
    throw new DomainError('INVALID_INPUT', 'perHost and skipRefused need refs or query.');
  return ref !== undefined;
}

const requestOf = ({ refs: _refs, query: _query, perHost: _perHost, skipRefused: _skip, ...body }: SingleMove) =>
  ({ ...body, ...scratchOf(body) }) as MoveRequest;

function queueOf(body: MoveDto): QueueRequest {
  const { ref: _ref, refs: _refs, query, name: _name, perHost, skipRefused = false, ...move } = body;
  return {
    move: { ...move, ...scratchOf(body) } as QueueRequest['move'],
    perHost: perHost ?? DEFAULT_MOVES_PER_HOST,
    skipRefused,
    leavesOutMoved: query !== undefined,
  };
}

const scratchOf = ({ scratch }: MoveDto): { scratch?: boolean } =>
  scratch === undefined ? {} : { scratch: scratch !== false && scratch !== '' };

const present = (plan: MovePlan): MovePlanView => ({
  ...plan,
  steps: presentSteps(plan.steps),
  warnings: [...plan.warnings],
  dropped: [...plan.dropped],
  losses: [...plan.losses],
  refusals: [...plan.refusals],
});

const presentAny = (plan: MovePlan | QueuePlan): PlanAnswer => ('members' in plan ? presentQueue(plan) : present(plan));

const presentQueue = (plan: QueuePlan): MoveQueuePlanView => ({
  ...plan,
  refusals: [...plan.refusals],
  warnings: [...plan.warnings],
  members: plan.members.map(present),
});
