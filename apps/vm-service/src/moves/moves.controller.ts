import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { everything } from '@headgate/access';
import {
  ChangeQuery,
  DestinationsView,
  MoveAcceptedView,
  MoveDto,
  MovePlanView,
  MoveQueueAcceptedView,
  MoveQueuePlanView,
} from '@headgate/api-contracts';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import {
  DEFAULT_MOVES_PER_HOST,
  ListDestinations,
  PlanMove,
  PlanQueue,
  StartMove,
  StartQueue,
  type MovePlan,
  type MoveRequest,
  type QueuePlan,
  type QueueRequest,
} from '@headgate/moves';
import type { FastifyReply } from 'fastify';
import { findMembers } from '../bulk/find-members.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../identity/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';

type PlanAnswer = MovePlanView | MoveQueuePlanView;
/** A plan that was refused, with the error body of the API. */
type Refused = PlanAnswer & { readonly error: string; readonly code: string };

@Controller('api/move')
export class MovesController {
  constructor(
    private readonly listDestinations: ListDestinations,
    private readonly planMove: PlanMove,
    private readonly startMove: StartMove,
    private readonly planQueue: PlanQueue,
    private readonly startQueue: StartQueue,
    private readonly fleet: FleetReader,
  ) {}

  // A move leads to another context, and may delete the source.
  @Needs(everything('read'))
  @Get('destinations')
  @Describe('The contexts that VMs can be moved to, and why the others receive none.', answer(200, DestinationsView))
  async destinations(): Promise<DestinationsView> {
    return { destinations: await this.listDestinations.run() };
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
    if (isSingle(body)) return present((await this.planMove.run(requestOf(body))).plan);
    const members = findMembers(body, this.fleet, caller);
    return presentQueue(await this.planQueue.run(queueOf(body), members));
  }

  @Needs(everything('change'))
  @Post()
  @Describe(
    'Moves a VM as a task, or several as a queue, unless a new preflight refuses it.',
    answer(200, MoveAcceptedView),
    answer(200, MoveQueueAcceptedView),
  )
  @HttpCode(200)
  async move(
    @Body() body: MoveDto,
    @Query() { dryRun }: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MoveAcceptedView | MoveQueueAcceptedView | PlanAnswer | Refused> {
    if (dryRun === 'true') return this.preflight(body, caller);
    const { plan, task } = isSingle(body) ? await this.moveOne(body, caller) : await this.moveMany(body, caller);
    if (task !== undefined) return { task, plan } as MoveAcceptedView | MoveQueueAcceptedView;
    void reply.status(409);
    const [first] = plan.refusals;
    const more = plan.refusals.length - 1;
    const reason = first?.reason ?? plan.warnings[0] ?? 'The move is refused.';
    const error = `${reason}${more > 0 ? ` There are ${more} more refusals.` : ''}`;
    return { ...plan, error, code: 'MOVE_REFUSED' };
  }

  private async moveOne(body: SingleMove, caller: Caller): Promise<{ plan: PlanAnswer; task?: string }> {
    const { plan, ...accepted } = await this.startMove.run(requestOf(body), caller);
    return { ...accepted, plan: present(plan) };
  }

  private async moveMany(body: MoveDto, caller: Caller): Promise<{ plan: PlanAnswer; task?: string }> {
    const members = findMembers(body, this.fleet, caller);
    const { plan, ...accepted } = await this.startQueue.run(queueOf(body), members, caller);
    return { ...accepted, plan: presentQueue(plan) };
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
  steps: [...plan.steps],
  warnings: [...plan.warnings],
  dropped: [...plan.dropped],
  losses: [...plan.losses],
  refusals: [...plan.refusals],
});

const presentQueue = (plan: QueuePlan): MoveQueuePlanView => ({
  ...plan,
  refusals: [...plan.refusals],
  warnings: [...plan.warnings],
  members: plan.members.map(present),
});
