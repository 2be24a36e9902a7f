import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { everything, ownObjects } from '@headgate/access';
import {
  ChangeQuery,
  CreateMessageChannelDto,
  EmptyBody,
  MessageChannelTestView,
  MessageChannelView,
  MessagePath,
  StatusView,
  UpdateMessageChannelDto,
  type PlanView,
} from '@headgate/api-contracts';
import { MessageChannelStore, type Caller, type MessageChannel } from '@headgate/domain-contracts';
import {
  CreateChannel,
  DeleteChannel,
  mayManageChannels,
  TestChannel,
  UpdateChannel,
  usableChannels,
} from '@headgate/messages';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentChannel } from './present-message.js';
import { targetChangeOf, targetOf } from './target-of.js';

/** Administrators manage the channels. Other users see the names of those that are shared. */
@Controller('api/ext/messages/channels')
export class MessageChannelsController {
  constructor(
    private readonly store: MessageChannelStore,
    private readonly createChannel: CreateChannel,
    private readonly updateChannel: UpdateChannel,
    private readonly deleteChannel: DeleteChannel,
    private readonly testChannel: TestChannel,
  ) {}

  @Needs(ownObjects)
  @Get()
  @Describe(
    'The channels that the caller may use, by name. Only administrators see where they send to, without secrets.',
    answerList(200, MessageChannelView),
  )
  list(@CurrentCaller() caller: Caller): MessageChannelView[] {
    return usableChannels(this.store, caller).map((one) => presentChannel(one, mayManageChannels(caller)));
  }

  @Needs(everything('manage'))
  @Post()
  @Describe('Creates a channel. Its secret is in no response.', answer(201, MessageChannelView))
  create(
    @Body() body: CreateMessageChannelDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<MessageChannelView | PlanView> {
    const { name, shared = false } = body;
    return request.answer(query, this.createChannel, [caller, { name, shared, target: targetOf(body) }], present);
  }

  @Needs(everything('manage'))
  @Patch(':id')
  @Describe(
    'Changes settings of a channel. A stored secret is not sent to another server: it must be given again with one.',
    answer(200, MessageChannelView),
  )
  update(
    @Param() { id }: MessagePath,
    @Body() body: UpdateMessageChannelDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<MessageChannelView | PlanView> {
    const { name, shared } = body;
    const target = targetChangeOf(body);
    const update = {
      ...(name !== undefined && { name }),
      ...(shared !== undefined && { shared }),
      ...(target && { target }),
    };
    return request.answer(query, this.updateChannel, [id, update], present);
  }

  @Needs(everything('manage'))
  @Delete(':id')
  @Describe('Deletes a channel that no rule uses.', answer(200, StatusView))
  remove(
    @Param() { id }: MessagePath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deleteChannel, [id], () => ({ status: 'deleted' }));
  }

  @Needs(everything('manage'))
  @Post(':id/test')
  @Describe(
    'Sends one message to a channel, and returns whether the receiver has accepted it. Takes up to a minute.',
    answer(200, MessageChannelTestView),
  )
  @HttpCode(200)
  async test(
    @Param() { id }: MessagePath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
  ): Promise<MessageChannelTestView> {
    const { result, reason } = await this.testChannel.run(id, caller, new AbortController().signal);
    return { sent: result === 'sent', reason };
  }
}

const present = (channel: MessageChannel): MessageChannelView => presentChannel(channel, true);
