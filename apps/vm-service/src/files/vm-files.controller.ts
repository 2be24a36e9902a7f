import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { vm } from '@headgate/access';
import {
  ChangeQuery,
  ContextQuery,
  EmptyBody,
  FilePageView,
  FileQuery,
  FileSessionView,
  FileListQuery,
  InstancePath,
  OpenVmFilesDto,
  StatusView,
  VmFilesPath,
  type PlanView,
} from '@headgate/api-contracts';
import { CloseFiles, FileSessions, OpenVmFiles, type FileSession } from '@headgate/backups';
import type { Caller } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { FileAnswers } from './file-answers.js';

const needsExport = vm('export', { doing: 'Reading the files on a disk' });

/** The files on the disks of stopped VMs. As for an export, the caller gets everything that is on the disks. */
@Controller('api/ext/vms/:ns/:name/files')
export class VmFilesController {
  constructor(
    private readonly openFiles: OpenVmFiles,
    private readonly closeFiles: CloseFiles,
    private readonly sessions: FileSessions,
    private readonly answers: FileAnswers,
  ) {}

  @Needs(needsExport)
  @Post()
  @Describe(
    'Opens the files of a stopped VM, or of a snapshot: boots a guest that reads the disks, and returns their file systems. Until the session ends, the VM can not be started, or the snapshot not be deleted.',
    answer(200, FileSessionView),
  )
  @HttpCode(200)
  open(
    @Param() path: InstancePath,
    @Body() { snapshot }: OpenVmFilesDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FileSessionView | PlanView> {
    const found = instanceQuery('vm', path, query);
    return request.answer(query, this.openFiles, [found, snapshot], (session) => this.answers.session(session));
  }

  @Needs(needsExport)
  @Get(':session')
  @Describe('The file systems of a VM whose files are open.', answer(200, FileSessionView))
  session(@Param() path: VmFilesPath, @Query() query: ContextQuery, @CurrentCaller() caller: Caller): FileSessionView {
    return this.answers.session(this.find(path, query, caller));
  }

  @Needs(needsExport)
  @Get(':session/entries')
  @Describe('A part of the list of a folder on a disk of a VM.', answer(200, FilePageView))
  entries(
    @Param() path: VmFilesPath,
    @Query() query: FileListQuery,
    @CurrentCaller() caller: Caller,
  ): Promise<FilePageView> {
    return this.answers.page(this.find(path, query, caller), query);
  }

  @Needs(needsExport)
  @Get(':session/content')
  @Describe(
    'A file on a disk of a VM. The journal has each download.',
    answer(200, 'application/octet-stream', 'content-disposition'),
  )
  content(
    @Param() path: VmFilesPath,
    @Query() query: FileQuery,
    @CurrentCaller() caller: Caller,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.file(this.find(path, query, caller), query, caller, reply);
  }

  @Needs(needsExport)
  @Get(':session/archive')
  @Describe(
    'A folder on a disk of a VM with everything in it, as tar. Links stay links, and the last entry lists the missing ones.',
    answer(200, 'application/x-tar', 'content-disposition'),
  )
  archive(
    @Param() path: VmFilesPath,
    @Query() query: FileQuery,
    @CurrentCaller() caller: Caller,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.folder(this.find(path, query, caller), query, caller, reply);
  }

  @Needs(needsExport)
  @Delete(':session')
  @Describe('Closes the files of a VM, which can be started again then.', answer(200, StatusView))
  close(
    @Param() path: VmFilesPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @CurrentCaller() { login }: Caller,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    const scope = this.openFiles.scopeOf(instanceQuery('vm', path, query));
    const wanted = { id: path.session, scope, owner: login };
    return request.answer(query, this.closeFiles, [wanted], () => ({ status: 'closed' }));
  }

  private find(path: VmFilesPath, query: ContextQuery, { login }: Caller): FileSession {
    return this.sessions.get(path.session, this.openFiles.scopeOf(instanceQuery('vm', path, query)), login);
  }
}
