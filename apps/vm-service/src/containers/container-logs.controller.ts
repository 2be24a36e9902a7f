import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ct } from '@headgate/access';
import { ContainerLogQuery, InstancePath } from '@headgate/api-contracts';
import { DomainError, type Caller, type LogRequest } from '@headgate/domain-contracts';
import { ReadContainerLog } from '@headgate/instances';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { instanceQuery } from '../instances/instance-request.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { LogConnections } from './log-connections.js';

const DEFAULT_LINES = 1000;

/** The logs of containers. */
@Controller('api/ext/cts/:ns/:name/logs')
export class ContainerLogsController {
  constructor(
    private readonly readLog: ReadContainerLog,
    private readonly connections: LogConnections,
  ) {}

  @Needs(ct('read'))
  @Get()
  @Describe(
    'The output of a container, as its program has written it: text with any control characters. With `follow`, new lines follow until the container ends or the client leaves. A response ends with a note after 32 MiB, and one that follows after 256 MiB.',
    answer(200, 'text/plain'),
  )
  async read(
    @Param() path: InstancePath,
    @Query() query: ContainerLogQuery,
    @CurrentCaller() caller: Caller,
    @Req() { method }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const wanted = requestOf(query);
    const named = instanceQuery('ct', path, query);
    const container = this.readLog.check(named);
    const { context } = container.ref;
    const open = (signal: AbortSignal) => this.readLog.open({ ...named, context }, wanted, signal);
    await this.connections.answer({ reply, caller, container, method, follows: wanted.follow === true }, open);
  }
}

/** @throws DomainError INVALID_INPUT */
function requestOf({ tail, since, follow, previous, timestamps }: ContainerLogQuery): LogRequest {
  if (follow === 'true' && previous === 'true')
    throw new DomainError('INVALID_INPUT', 'follow: the log of an earlier run does not grow; omit follow or previous.');
  return {
    tailLines: Number(tail ?? DEFAULT_LINES),
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    follow: follow === 'true',
    previous: previous === 'true',
    timestamps: timestamps === 'true',
  };
}
