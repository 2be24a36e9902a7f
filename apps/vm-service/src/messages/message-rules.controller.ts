import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ownObjects } from '@headgate/access';
import {
  ChangeQuery,
  CreateMessageRuleDto,
  EmptyBody,
  MessagePath,
  MessageRuleView,
  MessageView,
  StatusView,
  UpdateMessageRuleDto,
  type PlanView,
} from '@headgate/api-contracts';
import { MessageRuleStore, type Caller } from '@headgate/domain-contracts';
import { CreateRule, DeleteRule, UpdateRule, visibleRules, type RuleUpdate } from '@headgate/messages';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentMessage, presentRule } from './present-message.js';

const MAX_LISTED = 200;

/**
 * Each caller sees and changes their own rules, which have their rights. Those with all rights do so with the rules of
 * all.
 */
@Controller('api/ext/messages')
export class MessageRulesController {
  constructor(
    private readonly store: MessageRuleStore,
    private readonly createRule: CreateRule,
    private readonly updateRule: UpdateRule,
    private readonly deleteRule: DeleteRule,
  ) {}

  @Needs(ownObjects)
  @Get()
  @Describe(
    'The last messages of the rules that the caller sees, at most 200, the newest first.',
    answerList(200, MessageView),
  )
  sent(@CurrentCaller() caller: Caller): MessageView[] {
    return visibleRules(this.store, caller)
      .flatMap((rule) => rule.state.messages.map((message) => presentMessage(message, rule)))
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0))
      .slice(0, MAX_LISTED);
  }

  @Needs(ownObjects)
  @Get('rules')
  @Describe(
    'The rules of the caller, or of all for callers with all rights, by name.',
    answerList(200, MessageRuleView),
  )
  list(@CurrentCaller() caller: Caller): MessageRuleView[] {
    return visibleRules(this.store, caller).map(presentRule);
  }

  @Needs(ownObjects)
  @Post('rules')
  @Describe(
    'Creates a rule of the caller: at most 20. It is about what the caller may read at that time, from now on.',
    answer(201, MessageRuleView),
  )
  create(
    @Body() body: CreateMessageRuleDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<MessageRuleView | PlanView> {
    const { enabled = true, minSeverity = 'warning', delivery = 'immediately' } = body;
    const { digestAt = '07:00', timeZone = 'UTC', ...fields } = body;
    const rule = { ...fields, enabled, minSeverity, delivery, digestAt, timeZone };
    return request.answer(query, this.createRule, [caller, rule], presentRule);
  }

  @Needs(ownObjects)
  @Patch('rules/:id')
  @Describe(
    'Changes a rule. If it is about other events then, or was disabled, it sees events from now on.',
    answer(200, MessageRuleView),
  )
  update(
    @Param() { id }: MessagePath,
    @Body() body: UpdateMessageRuleDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<MessageRuleView | PlanView> {
    return request.answer(query, this.updateRule, [caller, id, body as RuleUpdate], presentRule);
  }

  @Needs(ownObjects)
  @Delete('rules/:id')
  @Describe('Deletes a rule. Its messages that were not delivered yet are not sent.', answer(200, StatusView))
  remove(
    @Param() { id }: MessagePath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deleteRule, [caller, id], () => ({ status: 'deleted' }));
  }
}
