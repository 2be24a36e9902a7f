import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import {
  ChangeQuery,
  CreatedWebhookView,
  CreateWebhookDto,
  EmptyBody,
  ReplayQuery,
  RotateWebhookDto,
  StatusView,
  WebhookPath,
  WebhookView,
  type PlanView,
} from '@headgate/api-contracts';
import { Clock, displayUrl, WebhookStore, type Webhook } from '@headgate/domain-contracts';
import { CreateWebhook, DEFAULT_OVERLAP_HOURS, DeleteWebhook, ReplayWebhook, RotateWebhook } from '@headgate/webhooks';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

@Controller('api/ext/webhooks')
export class WebhooksController {
  constructor(
    private readonly store: WebhookStore,
    private readonly clock: Clock,
    private readonly rotateWebhook: RotateWebhook,
    private readonly createWebhook: CreateWebhook,
    private readonly deleteWebhook: DeleteWebhook,
    private readonly replayWebhook: ReplayWebhook,
  ) {}

  @Needs(everything('manage', { doing: 'Reading the webhooks' }))
  @Get()
  @Describe('The webhooks without their secrets, for administrators.', answerList(200, WebhookView))
  list(): WebhookView[] {
    return this.store.all().map((webhook) => this.present(webhook));
  }

  @Needs(everything('manage'))
  @Post()
  @Describe(
    'Creates a webhook. The response is the only one that contains its secret.',
    answer(201, CreatedWebhookView),
  )
  create(
    @Body() { name, url, events }: CreateWebhookDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedWebhookView | PlanView> {
    return request.answer(query, this.createWebhook, [{ name, url, events }], (webhook) => ({
      ...this.present(webhook),
      secret: webhook.secret,
    }));
  }

  @Needs(everything('manage'))
  @Delete(':id')
  @Describe('Deletes a webhook. Events that were not delivered yet are not sent.', answer(200, StatusView))
  remove(
    @Param() { id }: WebhookPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deleteWebhook, [id], () => ({ status: 'deleted' }));
  }

  @Needs(everything('manage'))
  @Post(':id/replay')
  @Describe('Delivers the events since a time again, and enables a disabled webhook.', answer(200, StatusView))
  @HttpCode(200)
  replay(
    @Param() { id }: WebhookPath,
    @Body() _body: EmptyBody,
    @Query() query: ReplayQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    const since = query.since === undefined ? undefined : new Date(query.since).toISOString();
    return request.answer(query, this.replayWebhook, [id, since], () => ({ status: 'ok' }));
  }

  @Needs(everything('manage'))
  @Post(':id/rotate')
  @HttpCode(200)
  @Describe(
    'Gives a webhook a new secret. Messages have the signatures of both for some hours. The response is the only one that contains it.',
    answer(200, CreatedWebhookView),
  )
  rotate(
    @Param() { id }: WebhookPath,
    @Body() { overlapHours = DEFAULT_OVERLAP_HOURS }: RotateWebhookDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedWebhookView | PlanView> {
    return request.answer(query, this.rotateWebhook, [id, overlapHours], (webhook) => ({
      ...this.present(webhook),
      secret: webhook.secret,
    }));
  }

  private present({ secret: _secret, former, position: _position, url, events, ...webhook }: Webhook): WebhookView {
    const isOverlapping = former !== undefined && Date.parse(former.until) > this.clock.now();
    return {
      ...webhook,
      url: displayUrl(url),
      events: [...events],
      ...(isOverlapping && { formerSecretUntil: former.until }),
    };
  }
}
