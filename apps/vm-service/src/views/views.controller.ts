import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ownObjects } from '@headgate/access';
import {
  ChangeQuery,
  EmptyBody,
  SavedViewView,
  SaveViewDto,
  StatusView,
  UpdateViewDto,
  ViewPath,
  type PlanView,
} from '@headgate/api-contracts';
import { SavedViewStore, type Caller, type SavedView } from '@headgate/domain-contracts';
import { DeleteView, SaveView, UpdateView } from '@headgate/instances';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';

/** A view is an address of the page, without data of instances. Each caller sees and changes their own. */
@Controller('api/ext/views')
export class ViewsController {
  constructor(
    private readonly store: SavedViewStore,
    private readonly saveView: SaveView,
    private readonly updateView: UpdateView,
    private readonly deleteView: DeleteView,
  ) {}

  @Needs(ownObjects)
  @Get()
  @Describe('The saved views of the caller, in their order.', answerList(200, SavedViewView))
  list(@CurrentCaller() { login }: Caller): SavedViewView[] {
    return this.store.of(login).map(present);
  }

  @Needs(ownObjects)
  @Post()
  @Describe('Saves a view for the caller, behind the others: at most 50.', answer(201, SavedViewView))
  save(
    @Body() { name, address, columns = null }: SaveViewDto,
    @CurrentCaller() { login }: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<SavedViewView | PlanView> {
    return request.answer(query, this.saveView, [login, { name, address, columns }], present);
  }

  @Needs(ownObjects)
  @Patch(':id')
  @Describe('Renames, replaces or moves a view of the caller.', answer(200, SavedViewView))
  update(
    @Param() { id }: ViewPath,
    @Body() update: UpdateViewDto,
    @CurrentCaller() { login }: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<SavedViewView | PlanView> {
    return request.answer(query, this.updateView, [login, id, { ...update }], present);
  }

  @Needs(ownObjects)
  @Delete(':id')
  @Describe('Deletes a view of the caller.', answer(200, StatusView))
  remove(
    @Param() { id }: ViewPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() { login }: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deleteView, [login, id], () => ({ status: 'removed' }));
  }
}

const present = ({ id, name, address, columns, savedAt }: SavedView): SavedViewView => ({
  id,
  name,
  address,
  columns: columns && [...columns],
  savedAt,
});
