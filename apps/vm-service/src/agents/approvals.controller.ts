import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { eachMember, visibleInstances } from '@headgate/access';
import { ApprovalPath, ApprovalView, ApprovedView, EmptyBody, StatusView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import { Rehearsals, type Rehearsal } from '@headgate/rehearsals';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentRehearsed } from './present-rehearsed.js';
import { presentTwin } from './twin/present-twin.js';

/** The commits of agents that wait for a user. */
@Controller('api/ext/approvals')
export class ApprovalsController {
  constructor(private readonly rehearsals: Rehearsals) {}

  @Needs(visibleInstances)
  @Get()
  @Describe(
    'The commits of agents that wait for an approval, the oldest first: those whose change the caller may carry out themselves.',
    answerList(200, ApprovalView),
  )
  list(@CurrentCaller() caller: Caller): ApprovalView[] {
    return this.rehearsals.waitingFor(caller).map((one) => present(one, caller));
  }

  // Each instance is judged by the action, as in a bulk action.
  @Needs(eachMember)
  @Post(':id/approve')
  @HttpCode(200)
  @Describe(
    'Carries out a commit that waits, if its plan is still the one that was rehearsed.',
    answer(200, ApprovedView),
  )
  async approve(
    @Param() { id }: ApprovalPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
  ): Promise<ApprovedView> {
    const { task } = await this.rehearsals.approve(id, caller);
    return task === undefined ? { status: 'done' } : { status: 'started', task };
  }

  @Needs(eachMember)
  @Post(':id/reject')
  @HttpCode(200)
  @Describe('Rejects a commit that waits.', answer(200, StatusView))
  reject(@Param() { id }: ApprovalPath, @Body() _body: EmptyBody, @CurrentCaller() caller: Caller): StatusView {
    this.rehearsals.reject(id, caller);
    return { status: 'rejected' };
  }
}

const present = (one: Rehearsal, { grant }: Caller): ApprovalView => ({
  id: one.id,
  token: one.token,
  agent: one.tokenName,
  action: one.action,
  destructive: one.isDestructive,
  refs: one.targets.map(({ ref }) => ref),
  changes: one.changes,
  plan: presentRehearsed(one.plan),
  ...(one.twin && { twin: presentTwin(one.twin, grant) }),
  reason: one.reason,
  committedAt: new Date(one.committedAt ?? 0).toISOString(),
  expiresAt: new Date(one.expiresAt).toISOString(),
});
