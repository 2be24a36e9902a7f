import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { vm } from '@headgate/access';
import { ContextQuery, InstancePath, ScreenQuery, WatchersView } from '@headgate/api-contracts';
import { ScreenPictures } from '@headgate/consoles';
import {
  BackendDirectory,
  findInstance,
  InstanceDirectory,
  type Caller,
  type InstanceSources,
} from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { matchesEtag } from '../platform/etag.js';
import { Needs } from '../platform/needs.decorator.js';
import { ConsoleWatchers } from './console-watchers.js';
import { expectRunning } from './expect-running.js';

const DEFAULT_WIDTH = 640;

/** What a page shows of the consoles of a VM without opening one. */
@Controller('api/ext/vms/:ns/:name')
export class ConsolesController {
  private readonly sources: InstanceSources;

  constructor(
    directory: InstanceDirectory,
    backends: BackendDirectory,
    private readonly pictures: ScreenPictures,
    private readonly watchers: ConsoleWatchers,
  ) {
    this.sources = { directory, backends };
  }

  @Needs(vm('watch'))
  @Get('screen')
  @Describe(
    'A picture of the screen of a running VM, at most 5 s old; while another program has the screen, the last one of the past 10 minutes. ' +
      'It is taken through the session that the viewers of the screen share, and ends no session.',
    answer(200, 'image/png', 'etag', 'last-modified', 'svc-taken-at'),
  )
  async screen(
    @Param() path: InstancePath,
    @Query() query: ScreenQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { instance, ref, uid, ability } = findInstance(this.sources, instanceQuery('vm', path, query), 'consoles');
    expectRunning(instance);
    const width = query.width === undefined ? DEFAULT_WIDTH : Number(query.width);
    const { png, etag, takenAtMs } = await this.pictures.take({ ref, uid }, ability, width);
    const takenAt = new Date(takenAtMs);
    void reply.headers({
      'content-type': 'image/png',
      'cache-control': 'private, no-cache',
      etag,
      'last-modified': takenAt.toUTCString(),
      'svc-taken-at': takenAt.toISOString(),
    });
    if (matchesEtag(request.headers['if-none-match'], etag)) return void reply.status(304).send();
    void reply.send(png);
  }

  @Needs(vm('watch'))
  @Get('watchers')
  @Describe('Who has a console of a VM open.', answer(200, WatchersView))
  list(@Param() path: InstancePath, @Query() query: ContextQuery, @CurrentCaller() caller: Caller): WatchersView {
    return this.watchers.of(this.sources.directory.resolve(instanceQuery('vm', path, query)), caller);
  }
}
