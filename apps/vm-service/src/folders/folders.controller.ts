import { Body, Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import { everything, folders, visibleInstances } from '@headgate/access';
import {
  AddFolderMemberDto,
  ChangeQuery,
  CreateFolderDto,
  EmptyBody,
  FOLDER_ACTIONS,
  FolderActionDto,
  FolderActionView,
  FolderMemberQuery,
  FolderMemberView,
  FolderPathView,
  FolderQuery,
  FolderRemovedMemberView,
  FoldersQuery,
  FoldersView,
  MoveFolderDto,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import {
  AddFolderMember,
  CreateFolder,
  MoveFolder,
  RemoveFolder,
  RemoveFolderMember,
  RunFolderAction,
} from '@headgate/folders';
import type { Caller } from '@headgate/domain-contracts';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { expectAction } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { ReadFolders } from './read-folders.js';

/** Paths travel in the body or the query, because they contain slashes. */
@Controller('api/folders')
export class FoldersController {
  constructor(
    private readonly readFolders: ReadFolders,
    private readonly createFolder: CreateFolder,
    private readonly removeFolder: RemoveFolder,
    private readonly moveFolder: MoveFolder,
    private readonly addMember: AddFolderMember,
    private readonly removeMember: RemoveFolderMember,
    private readonly runAction: RunFolderAction,
  ) {}

  @Needs(visibleInstances)
  @Get()
  @Describe('All folders with their VMs and containers, and those in no folder.', answer(200, FoldersView))
  list(@Query() { summary }: FoldersQuery, @CurrentCaller() caller: Caller): Promise<FoldersView> {
    return this.readFolders.read({ summary: summary === 'true' }, caller.grant);
  }

  @Needs(folders('change', ['path']))
  @Post()
  @Describe('Creates a folder, with the folders around it that do not exist.', answer(200, FolderPathView))
  @HttpCode(200)
  create(
    @Body() { path }: CreateFolderDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FolderPathView | PlanView> {
    return request.answer(query, this.createFolder, [path], () => ({ path }));
  }

  // Its members are in no folder afterwards, where other rights hold.
  @Needs(everything('change'))
  @Delete()
  @Describe('Removes a folder and the folders in it. Their members are kept, in no folder.', answer(200, StatusView))
  remove(
    @Body() _body: EmptyBody,
    @Query() query: FolderQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.removeFolder, [query.path], () => ({ status: 'removed' }));
  }

  @Needs(folders('change', ['from', 'to']))
  @Post('move')
  @Describe('Gives a folder another path. The folders in it and all members go along.', answer(200, FolderPathView))
  @HttpCode(200)
  move(
    @Body() { from, to }: MoveFolderDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FolderPathView | PlanView> {
    return request.answer(query, this.moveFolder, [from, to], () => ({ path: to }));
  }

  @Needs(folders('change', ['path'], { ref: true }))
  @Post('members')
  @Describe('Puts an instance into a folder and takes it out of its last one.', answer(200, FolderMemberView))
  @HttpCode(200)
  add(
    @Body() { path, ref }: AddFolderMemberDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FolderMemberView | PlanView> {
    return request.answer(query, this.addMember, [path, ref], () => ({ path, ref }));
  }

  @Needs(everything('change'))
  @Delete('members')
  @Describe('Takes an instance, or a former one of its ref, out of its folder.', answer(200, FolderRemovedMemberView))
  take(
    @Body() _body: EmptyBody,
    @Query() query: FolderMemberQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FolderRemovedMemberView | PlanView> {
    const { ref, missing } = query;
    return request.answer(query, this.removeMember, [ref, { isMissing: missing === 'true' }], () => ({
      status: 'unfoldered',
      ref,
    }));
  }

  @Needs(folders('power', ['path']))
  @Post('action')
  @Describe(
    'Power of all members: start, stop, restart, pause, unpause. The result of each member is in the response.',
    answer(200, FolderActionView),
  )
  @HttpCode(200)
  act(
    @Body() { path, action, recursive = false }: FolderActionDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<FolderActionView | PlanView> {
    const named = expectAction(action, FOLDER_ACTIONS);
    const power = named === 'resume' ? 'unpause' : named;
    return request.answer(query, this.runAction, [path, power, { recursive }], (result) => ({
      ...result,
      members: [...result.members],
    }));
  }
}
