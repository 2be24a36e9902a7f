import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ChangeQuery, DestinationsView, MoveAcceptedView, MoveDto, MovePlanView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import { ListDestinations, PlanMove, StartMove, type MovePlan, type MoveRequest } from '@headgate/moves';
import type { FastifyReply } from 'fastify';
import { CurrentCaller } from '../identity/caller.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';

/** A plan that was refused, with the error body of the API. */
type RefusedMove = MovePlanView & { readonly error: string; readonly code: string };

@Controller('api/move')
export class MovesController {
  constructor(
    private readonly listDestinations: ListDestinations,
    private readonly planMove: PlanMove,
    private readonly startMove: StartMove,
  ) {}

  @Get('destinations')
  @Describe('The contexts that VMs can be moved to, and why the others receive none.', answer(200, DestinationsView))
  async destinations(): Promise<DestinationsView> {
    return { destinations: await this.listDestinations.run() };
  }

  @Post('preflight')
  @Describe('The plan of a move with all its refusals. Changes nothing.', answer(200, MovePlanView))
  @HttpCode(200)
  async preflight(@Body() body: MoveDto): Promise<MovePlanView> {
    return present((await this.planMove.run(requestOf(body))).plan);
  }

  @Post()
  @Describe('Moves a VM as a task, unless a new preflight refuses it.', answer(200, MoveAcceptedView))
  @HttpCode(200)
  async move(
    @Body() body: MoveDto,
    @Query() { dryRun }: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MoveAcceptedView | MovePlanView | RefusedMove> {
    if (dryRun === 'true') return this.preflight(body);
    const { plan, task } = await this.startMove.run(requestOf(body), caller);
    if (task !== undefined) return { task, plan: present(plan) };
    void reply.status(409);
    const [first] = plan.refusals;
    const more = plan.refusals.length - 1;
    const error = `${first?.reason ?? 'The move is refused.'}${more > 0 ? ` There are ${more} more refusals.` : ''}`;
    return { ...present(plan), error, code: 'MOVE_REFUSED' };
  }
}

const requestOf = ({ scratch, ...body }: MoveDto): MoveRequest => ({
  ...body,
  ...(scratch !== undefined && { scratch: scratch !== false && scratch !== '' }),
});

const present = (plan: MovePlan): MovePlanView => ({
  ...plan,
  steps: [...plan.steps],
  warnings: [...plan.warnings],
  dropped: [...plan.dropped],
  refusals: [...plan.refusals],
});
