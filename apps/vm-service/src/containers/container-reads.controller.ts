import { Controller, Get, Param, Query } from '@nestjs/common';
import { ct, may } from '@headgate/access';
import { ContextQuery, InstanceEventView, InstancePath } from '@headgate/api-contracts';
import { BackendDirectory, findInstance, InstanceDirectory, type Caller, type Json } from '@headgate/domain-contracts';
import { ReadEvents } from '@headgate/instances';
import { InstanceAccess } from '../identity/instance-access.js';
import { instanceQuery } from '../instances/instance-request.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

/** The manifest and the events of containers. */
@Controller('api/ext/cts/:ns/:name')
export class ContainerReadsController {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly access: InstanceAccess,
    private readonly readEvents: ReadEvents,
  ) {}

  @Needs(ct('read'))
  @Get()
  @Describe(
    "The backend's own object of a container; secrets are masked for callers who are not administrators.",
    answer(200, 'application/json'),
  )
  async manifest(
    @Param() path: InstancePath,
    @Query() query: ContextQuery,
    @CurrentCaller() caller: Caller,
  ): Promise<Json> {
    const { directory, backends } = this;
    const found = findInstance({ directory, backends }, instanceQuery('ct', path, query), 'inventory');
    const masked = !may(caller.grant, ct('secrets'), { instance: this.access.subjectOf(found.instance) });
    return found.ability.manifest(found.ref, { masked });
  }

  @Needs(ct('read'))
  @Get('events')
  @Describe(
    'The last 50 events of the backend and actions of this service, newest first.',
    answerList(200, InstanceEventView),
  )
  async events(@Param() path: InstancePath, @Query() query: ContextQuery): Promise<InstanceEventView[]> {
    return [...(await this.readEvents.read(instanceQuery('ct', path, query)))];
  }
}
