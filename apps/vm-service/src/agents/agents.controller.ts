import { Body, Controller, HttpCode, Post, Query } from '@nestjs/common';
import { everything, StopAgents } from '@headgate/access';
import { ChangeQuery, StopAgentsDto, StoppedAgentsView, type PlanView } from '@headgate/api-contracts';
import { Rehearsals } from '@headgate/rehearsals';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';

/** Stops agents. */
@Controller('api/ext/agents')
export class AgentsController {
  constructor(
    private readonly stopAgents: StopAgents,
    private readonly rehearsals: Rehearsals,
  ) {}

  @Needs(everything('manage'))
  @Post('stop')
  @HttpCode(200)
  @Describe(
    'Stops one agent, or all: their requests are refused, their sessions end, their bulk tasks change no further instance, and their commits that wait are canceled.',
    answer(200, StoppedAgentsView),
  )
  stop(
    @Body() { token }: StopAgentsDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StoppedAgentsView | PlanView> {
    // They are canceled as soon as their tokens are stopped.
    const waiting = this.rehearsals.countWaiting();
    return request.answer(query, this.stopAgents, [token, true], (stopped) => {
      for (const { id } of stopped) this.rehearsals.cancel(id);
      return {
        tokens: stopped.map(({ id }) => id),
        canceled: stopped.reduce((sum, { id }) => sum + (waiting.get(id) ?? 0), 0),
      };
    });
  }

  @Needs(everything('manage'))
  @Post('resume')
  @HttpCode(200)
  @Describe(
    'Lets one agent, or all, continue. They have to rehearse canceled commits again.',
    answer(200, StoppedAgentsView),
  )
  resume(
    @Body() { token }: StopAgentsDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StoppedAgentsView | PlanView> {
    return request.answer(query, this.stopAgents, [token, false], (resumed) => ({
      tokens: resumed.map(({ id }) => id),
      canceled: 0,
    }));
  }
}
