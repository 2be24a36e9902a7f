import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { everything } from '@headgate/access';
import {
  BackupPointPath,
  ChangeQuery,
  EmptyBody,
  FilePageView,
  FileQuery,
  FileSessionView,
  FileListQuery,
  OpenPointFilesDto,
  PointFilesPath,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { CloseFiles, FileSessions, OpenPointFiles, pointScope, type FileSession } from '@headgate/backups';
import type { Caller } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { FileAnswers } from './file-answers.js';

/** The files of backups. As for a restore, the caller gets everything that is on the disks. */
@Controller('api/ext/backups/targets/:target/points/:point/files')
export class PointFilesController {
  constructor(
    private readonly openFiles: OpenPointFiles,
    private readonly closeFiles: CloseFiles,
    private readonly sessions: FileSessions,
    private readonly answers: FileAnswers,
  ) {}

  @Needs(everything('create'))
  @Post()
  @Describe(
    'Opens the files of a backup: boots a guest that reads its disks, and returns its file systems. The session belongs to its user, and a second request returns the same one.',
    answer(200, FileSessionView),
  )
  @HttpCode(200)
  open(
    @Param() { target, point }: BackupPointPath,
    @Body() { context }: OpenPointFilesDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FileSessionView | PlanView> {
    const args = [{ target, point, context }] as [{ target: string; point: string; context: string }];
    return request.answer(query, this.openFiles, args, (session) => this.answers.session(session));
  }

  @Needs(everything('create'))
  @Get(':session')
  @Describe('The file systems of a backup whose files are open.', answer(200, FileSessionView))
  session(@Param() path: PointFilesPath, @CurrentCaller() caller: Caller): FileSessionView {
    return this.answers.session(this.find(path, caller));
  }

  @Needs(everything('create'))
  @Get(':session/entries')
  @Describe('A part of the list of a folder in a backup.', answer(200, FilePageView))
  entries(
    @Param() path: PointFilesPath,
    @Query() query: FileListQuery,
    @CurrentCaller() caller: Caller,
  ): Promise<FilePageView> {
    return this.answers.page(this.find(path, caller), query);
  }

  @Needs(everything('create'))
  @Get(':session/content')
  @Describe(
    'A file of a backup. The journal has each download.',
    answer(200, 'application/octet-stream', 'content-disposition'),
  )
  content(
    @Param() path: PointFilesPath,
    @Query() query: FileQuery,
    @CurrentCaller() caller: Caller,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.file(this.find(path, caller), query, caller, reply);
  }

  @Needs(everything('create'))
  @Get(':session/archive')
  @Describe(
    'A folder of a backup with everything in it, as tar. Links stay links, and the last entry lists the missing ones.',
    answer(200, 'application/x-tar', 'content-disposition'),
  )
  archive(
    @Param() path: PointFilesPath,
    @Query() query: FileQuery,
    @CurrentCaller() caller: Caller,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.folder(this.find(path, caller), query, caller, reply);
  }

  @Needs(everything('create'))
  @Delete(':session')
  @Describe('Closes the files of a backup.', answer(200, StatusView))
  close(
    @Param() { session, target, point }: PointFilesPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @CurrentCaller() { login }: Caller,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    const wanted = { id: session, scope: pointScope(target, point), owner: login };
    return request.answer(query, this.closeFiles, [wanted], () => ({ status: 'closed' }));
  }

  private find({ target, point, session }: PointFilesPath, { login }: Caller): FileSession {
    return this.sessions.get(session, pointScope(target, point), login);
  }
}
