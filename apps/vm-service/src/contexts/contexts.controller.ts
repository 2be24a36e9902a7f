import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import {
  AddContextDto,
  AddedContextView,
  ChangeContextDto,
  ChangeQuery,
  ContextPath,
  ContextsView,
  ContextTestView,
  EmptyBody,
  StatusView,
  TestContextDto,
  type PlanView,
} from '@headgate/api-contracts';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import { AddedContexts } from '../fleet/added-contexts.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { AddContext } from './add-context.js';
import { AddingRights } from './adding-rights.js';
import { ChangeContext } from './change-context.js';
import type { ContextCheck } from './context-tests.js';
import { ReadContexts } from './read-contexts.js';
import { RemoveContext } from './remove-context.js';
import { TestContext } from './test-context.js';

@Controller('api/ext/contexts')
export class ContextsController {
  constructor(
    private readonly readContexts: ReadContexts,
    private readonly added: AddedContexts,
    private readonly rights: AddingRights,
    private readonly testContext: TestContext,
    private readonly addContext: AddContext,
    private readonly changeContext: ChangeContext,
    private readonly removeContext: RemoveContext,
  ) {}

  @Needs(everything('manage', { doing: 'Reading the contexts' }))
  @Get()
  @Describe('All contexts with their states, without their secrets, for administrators.', answer(200, ContextsView))
  list(@CurrentCaller() caller: Caller): ContextsView {
    const refusal = this.rights.refusalFor(caller);
    return {
      contexts: this.readContexts.all(),
      kinds: [...this.added.kinds],
      ...(refusal !== undefined && { refusal }),
    };
  }

  @Needs(everything('manage'))
  @Post('test')
  @Describe('Tries the settings of a context, and keeps nothing. Takes up to 25 seconds.', answer(200, ContextTestView))
  @HttpCode(200)
  async test(
    @Body() { name, kind, settings }: TestContextDto,
    @CurrentCaller() caller: Caller,
  ): Promise<ContextTestView> {
    this.rights.expect(caller);
    const { ok, checks } = await this.testContext.run({ name, kind, settings }, caller);
    return { ok, checks: [...checks] };
  }

  @Needs(everything('manage'))
  @Post()
  @Describe('Tests a context, adds it, and lists its instances.', answer(201, AddedContextView))
  add(
    @Body() { name, kind, settings, despiteErrors = false }: AddContextDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AddedContextView | PlanView> {
    this.rights.expect(caller);
    return request.answer(query, this.addContext, [{ name, kind, settings, despiteErrors }], (checks) =>
      this.present(name, checks),
    );
  }

  @Needs(everything('manage'))
  @Patch(':name')
  @Describe(
    'Changes settings of a context that was added, after a test, and lists its instances again. Secrets that are not given are kept.',
    answer(200, AddedContextView),
  )
  change(
    @Param() { name }: ContextPath,
    @Body() { settings, despiteErrors = false }: ChangeContextDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AddedContextView | PlanView> {
    this.rights.expect(caller);
    return request.answer(query, this.changeContext, [{ name, settings, despiteErrors }], (checks) =>
      this.present(name, checks),
    );
  }

  @Needs(everything('manage'))
  @Delete(':name')
  @Describe(
    'Removes a context that was added, and its instances from the lists. The instances themselves stay as they are.',
    answer(200, StatusView),
  )
  remove(
    @Param() { name }: ContextPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.removeContext, [name], () => ({ status: 'removed' }));
  }

  private present(name: string, checks: readonly ContextCheck[]): AddedContextView {
    const context = this.readContexts.find(name);
    if (!context) throw new DomainError('ADDED_CONTEXT_NOT_FOUND', `The context "${name}" was removed meanwhile.`);
    return { context, checks: [...checks] };
  }
}
