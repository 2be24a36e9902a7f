import { Body, Controller, Delete, Get, HttpCode, Param, Query, Req, Res } from '@nestjs/common';
import { CallerConnections, everything, visibleInstances } from '@headgate/access';
import { EmptyBody, StatusView, TaskQuery, TaskView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import { CancelTask, TaskReader } from '@headgate/tasks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { presentTask } from './present-task.js';
import { expectReadable, MAX_LISTED_TASKS, mayReadTask } from './readable-task.js';
import { TaskStreams } from './task-streams.js';

@Controller('api/tasks')
export class TasksController {
  constructor(
    private readonly tasks: TaskReader,
    private readonly streams: TaskStreams,
    private readonly cancelTask: CancelTask,
    private readonly callers: CallerConnections,
  ) {}

  @Needs(visibleInstances)
  @Get()
  @Describe('The last 100 tasks without their logs, the newest first.', answerList(200, TaskView))
  recent(@CurrentCaller() caller: Caller): TaskView[] {
    return this.tasks
      .recent(MAX_LISTED_TASKS)
      .filter((task) => mayReadTask(caller, task))
      .map(presentTask);
  }

  @Needs(visibleInstances)
  @Get(':id')
  @Describe(
    'One task with its log; with Accept: text/event-stream, a snapshot and then each change until the task ends.',
    answer(200, TaskView),
    answer(200, 'text/event-stream'),
  )
  async one(
    @Param('id') id: string,
    @Query() { lastEventId }: TaskQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    // A stream needs no copy of the task for callers who may read all of them.
    const task = caller.grant.allowsAll('read') ? undefined : expectReadable(caller, this.tasks.get(id));
    if (request.headers.accept?.includes('text/event-stream')) {
      this.streams.begin(id, request, reply, lastEventId);
      reply.raw.once(
        'close',
        this.callers.closeWith(caller, () => reply.raw.destroy()),
      );
      return;
    }
    await reply
      .header('cache-control', 'no-cache')
      .header('vary', 'accept')
      .send(presentTask(task ?? this.tasks.get(id)));
  }

  @Needs(everything('change'))
  @Delete(':id')
  @Describe(
    'Cancels a task, which is rolled back then; 409 while it does something that must not be interrupted.',
    answer(200, StatusView),
  )
  @HttpCode(200)
  async cancel(
    @Param('id') id: string,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
  ): Promise<StatusView> {
    await this.cancelTask.run(id, caller);
    return { status: this.tasks.get(id).status === 'running' ? 'canceling' : 'canceled' };
  }
}
