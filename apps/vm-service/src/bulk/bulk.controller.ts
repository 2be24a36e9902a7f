import { Body, Controller, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  AcceptedView,
  BulkDto,
  ChangeQuery,
  EmptyBody,
  StatusView,
  type BulkQuery,
  type PlanView,
} from '@headgate/api-contracts';
import { DomainError, parseRef, type Caller, type InstanceRef } from '@headgate/domain-contracts';
import { FleetReader, queryEntries, wordsOf } from '@headgate/fleet';
import { RunBulk } from '@headgate/instances';
import { readable } from '../fleet/readable.js';
import { CurrentCaller } from '../identity/caller.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { expectAllowed } from './allowed-actions.js';

@Controller('api/ext/bulk')
export class BulkController {
  constructor(
    private readonly runBulk: RunBulk,
    private readonly fleet: FleetReader,
  ) {}

  @Post()
  @Describe('One action for many instances, as a task with a result for each of them.', answer(202, AcceptedView))
  @HttpCode(202)
  start(
    @Body() { refs, query, ...order }: BulkDto,
    @Query() change: ChangeQuery,
    @Changing() request: ChangeRequest,
    @CurrentCaller() caller: Caller,
  ): Promise<AcceptedView | PlanView> {
    if ((refs === undefined) === (query === undefined))
      throw new DomainError('INVALID_INPUT', 'Exactly one of refs and query must be set.');
    const members = refs ? refs.map(parseRef) : this.find(query!, caller);
    expectAllowed(caller, order.action, members);
    return request.answer(change, this.runBulk, [order, members], (task) => ({ task }));
  }

  @Post(':task/retry')
  @Describe('Starts a task for the members of an ended one that failed or never began.', answer(202, AcceptedView))
  @HttpCode(202)
  retry(@Param('task') task: string, @Body() _body: EmptyBody, @CurrentCaller() caller: Caller): AcceptedView {
    return { task: this.runBulk.retry(task, caller) };
  }

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

  @Post(':task/pause')
  @Describe(
    'Begins no further member of a bulk task until it is resumed, also after a restart; those that run are finished.',
    answer(200, StatusView),
  )
  @HttpCode(200)
  pause(@Param('task') task: string, @Body() _body: EmptyBody, @CurrentCaller() caller: Caller): Promise<StatusView> {
    return this.setPaused(task, true, caller);
  }

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

  /** @throws DomainError INVALID_INPUT for a query that chooses every instance */
  private find({ kind = 'vm', q, context, folder }: BulkQuery, caller: Caller): InstanceRef[] {
    const words = wordsOf(q);
    if (words.length === 0 && context === undefined && folder === undefined)
      throw new DomainError('INVALID_INPUT', 'query must have at least one of q, context and folder.');
    return queryEntries(readable(this.fleet.all(kind), caller.grant), { words, context, folder }).entries.map(
      ({ instance }) => instance.ref,
    );
  }
}
