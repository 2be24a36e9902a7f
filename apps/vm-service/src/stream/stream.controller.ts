import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { visibleInstances } from '@headgate/access';
import { StreamQuery } from '@headgate/api-contracts';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { TopicStreams } from './topic-streams.js';
import { Topics } from './topics/topics.js';

/** Everything that a page shows, as one event stream. */
@Controller('api/ext/stream')
export class StreamController {
  constructor(
    private readonly topics: Topics,
    private readonly streams: TopicStreams,
  ) {}

  // Each topic has a need of its own, which is that of the route with the same data.
  @Needs(visibleInstances)
  @Get()
  @Describe(
    'With Accept: text/event-stream, a snapshot of each topic and then each change.',
    answer(200, 'text/event-stream'),
  )
  open(
    @Query() { topics, lastEventId }: StreamQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    if (!request.headers.accept?.includes('text/event-stream'))
      throw new DomainError('INVALID_INPUT', 'Accept: this is an event stream; it has to be text/event-stream.');
    const wanted = this.topics.of(topics, caller.grant);
    this.streams.begin({ request, reply, caller, topics: wanted, lastEventId });
  }
}
