import { Body, Controller, HttpCode, Param, Post, Query } from '@nestjs/common';
import { eachMember, everything, expectMembersAllowed } from '@headgate/access';
import { AcceptedView, BulkDto, BulkPlanView, ChangeQuery, EmptyBody, StatusView } from '@headgate/api-contracts';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { RunBulk, type BulkPlan } from '@headgate/instances';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe, planAnswer } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest, presentPlan } from '../platform/change-request.js';
import { findMembers } from './find-members.js';

@Controller('api/ext/bulk')
export class BulkController {
  constructor(
    private readonly runBulk: RunBulk,
    private readonly fleet: FleetReader,
  ) {}

  @Needs(eachMember)
  @Post()
  @Describe(
    'One action for many instances, as a task with a result for each of them.',
    answer(202, AcceptedView),
    planAnswer(200, BulkPlanView),
  )
  @HttpCode(202)
  start(
    @Body() { refs, query, ...bulk }: BulkDto,
    @Query() change: ChangeQuery,
    @Changing() request: ChangeRequest,
    @CurrentCaller() caller: Caller,
  ): Promise<AcceptedView | BulkPlanView> {
    if ((refs === undefined) === (query === undefined))
      throw new DomainError('INVALID_INPUT', 'Exactly one of refs and query must be set.');
    const members = findMembers({ refs, query }, this.fleet, caller);
    expectMembersAllowed(caller.grant, bulk, members);
    if (bulk.at !== undefined) expectStoredRights(caller);
    return request.answerWith(change, this.runBulk, [bulk, members], {
      result: (task) => ({ task }),
      plan: present,
    });
  }

  @Needs(everything('change'))
  @Post(':task/retry')
  @Describe('Starts a task for the members of an ended one that failed or never began.', answer(202, AcceptedView))
  @HttpCode(202)
  async retry(
    @Param('task') task: string,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
  ): Promise<AcceptedView> {
    return { task: await this.runBulk.retry(task, caller) };
  }

  @Needs(everything('change'))
  @Post(':task/cancel')
  @Describe('Begins no further member of a bulk task; those that run are finished.', answer(200, StatusView))
  @HttpCode(200)
  async cancel(
    @Param('task') task: string,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
  ): Promise<StatusView> {
    await this.runBulk.cancel(task, caller);
    return { status: 'ok' };
  }

  @Needs(everything('change'))
  @Post(':task/pause')
  @Describe(
    'Begins no further member of a bulk task until it is resumed, also after a restart; those that run are finished.',
    answer(200, StatusView),
  )
  @HttpCode(200)
  pause(@Param('task') task: string, @Body() _body: EmptyBody, @CurrentCaller() caller: Caller): Promise<StatusView> {
    return this.setPaused(task, true, caller);
  }

  @Needs(everything('change'))
  @Post(':task/resume')
  @Describe('Continues a bulk task that was paused.', answer(200, StatusView))
  @HttpCode(200)
  resume(@Param('task') task: string, @Body() _body: EmptyBody, @CurrentCaller() caller: Caller): Promise<StatusView> {
    return this.setPaused(task, false, caller);
  }

  private async setPaused(task: string, isPaused: boolean, caller: Caller): Promise<StatusView> {
    await this.runBulk.pause(task, isPaused, caller);
    return { status: 'ok' };
  }
}

/** The rights of other callers are not stored, so that a task could not begin after a restart. */
function expectStoredRights({ grant }: Caller): void {
  if (grant.kind !== 'administrator')
    throw new DomainError('NOT_PERMITTED', `${grant.label} can't set at: only callers with all rights can.`);
}

const present = ({ ok, members, unplanned, ...plan }: BulkPlan): BulkPlanView => ({
  ...presentPlan(plan),
  ok,
  members: members.map(({ ref, ok, ...member }) => ({ ref, ok, ...presentPlan(member) })),
  unplanned,
});
