import { Controller, Get, Query, Res } from '@nestjs/common';
import { visibleInstances } from '@headgate/access';
import { ChangesQuery, ChangeView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { ReadChanges } from './read-changes.js';

/** The history of the fleet. Never asks a backend. */
@Controller('api/ext/changes')
export class ChangesController {
  constructor(private readonly changes: ReadChanges) {}

  @Needs(visibleInstances)
  @Get()
  @Describe(
    'What has changed in the lists of VMs and containers, and who or what has probably caused it, the oldest first.',
    answerList(200, ChangeView, 'svc-cursor'),
  )
  async read(
    @Query() query: ChangesQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ChangeView[]> {
    const { changes, cursor } = await this.changes.read(query, caller);
    if (cursor !== undefined) void reply.header('svc-cursor', cursor);
    return changes;
  }
}
