import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ct } from '@headgate/access';
import { ContainerFileListQuery, ContainerFileQuery, FilePageView, InstancePath } from '@headgate/api-contracts';
import { pathOfFile, type Caller } from '@headgate/domain-contracts';
import { ReadContainerFiles } from '@headgate/instances';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { attachment, attachmentHeaders } from '../platform/attachment.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { clientLeft } from '../platform/client-left.js';
import { Needs } from '../platform/needs.decorator.js';
import { CallerPlaces } from './caller-places.js';
import { StreamedAnswers } from './streamed-answers.js';

const DEFAULT_LIMIT = 200;
/** Each of them runs programs in a container. */
export const MAX_READINGS_PER_CALLER = 8;
export const MAX_READINGS = 64;
/** Files hold secrets, and a program of the container reads them, as in its terminal. */
const needsConsole = ct('console', { doing: 'Reading the files of a container' });

/** The files of running containers. */
@Controller('api/ext/cts/:ns/:name/files')
export class ContainerFilesController {
  private readonly places = new CallerPlaces({
    max: MAX_READINGS,
    maxPerCaller: MAX_READINGS_PER_CALLER,
    refusalOf: (own) =>
      own >= MAX_READINGS_PER_CALLER
        ? `You read ${own} files and folders of containers; wait for one of them.`
        : `${MAX_READINGS} files and folders of containers are being read; try again later.`,
  });

  constructor(
    private readonly files: ReadContainerFiles,
    private readonly answers: StreamedAnswers,
  ) {}

  @Needs(needsConsole)
  @Get('entries')
  @Describe(
    'A part of the list of a folder in a running container, as its user sees it. Links are followed inside the container.',
    answer(200, FilePageView),
  )
  async entries(
    @Param() path: InstancePath,
    @Query() query: ContainerFileListQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FilePageView> {
    const range = { skip: Number(query.skip ?? 0), limit: Number(query.limit ?? DEFAULT_LIMIT) };
    const release = this.places.take(caller);
    try {
      const named = instanceQuery('ct', path, query);
      const page = await this.files.list(named, pathOfFile(query.path), range, clientLeft(reply));
      return { ...page, entries: page.entries.map((entry) => ({ ...entry })) };
    } finally {
      release();
    }
  }

  @Needs(needsConsole)
  @Get('content')
  @Describe(
    'A file of a running container, until its end is read. A response that breaks off is not complete. The journal has each download.',
    answer(200, 'application/octet-stream', 'content-disposition'),
  )
  async content(
    @Param() path: InstancePath,
    @Query() query: ContainerFileQuery,
    @CurrentCaller() caller: Caller,
    @Req() { method }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const named = instanceQuery('ct', path, query);
    const file = pathOfFile(query.path);
    const container = this.files.check(named);
    const { context } = container.ref;
    const headers = {
      ...attachmentHeaders('application/octet-stream', attachment(file.split('/').at(-1) || 'file')),
      'x-accel-buffering': 'no',
    };
    const answered = {
      headers,
      need: needsConsole,
      doing: 'read this file',
      takePlace: () => this.places.take(caller),
    };
    await this.answers.send({ reply, caller, container, method }, answered, (signal) =>
      this.files.read({ ...named, context }, file, caller, signal),
    );
  }
}
