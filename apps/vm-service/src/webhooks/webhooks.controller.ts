import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ownObjects } from '@headgate/access';
import {
  ChangeQuery,
  ChangeWebhookDto,
  CreatedWebhookView,
  CreateWebhookDto,
  EmptyBody,
  ReplayQuery,
  RotateWebhookDto,
  StatusView,
  WebhookPath,
  WebhookTestView,
  WebhookView,
  type PlanView,
} from '@headgate/api-contracts';
import { Clock, displayUrl, WebhookStore, type Caller, type Webhook } from '@headgate/domain-contracts';
import {
  ChangeWebhook,
  CreateWebhook,
  DEFAULT_OVERLAP_HOURS,
  DeleteWebhook,
  ReplayWebhook,
  RotateWebhook,
  TestWebhook,
  visibleWebhooks,
} from '@headgate/webhooks';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

/** Each user sees and changes their own webhooks, which have their rights. Administrators do so with those of all. */
@Controller('api/ext/webhooks')
export class WebhooksController {
  constructor(
    private readonly store: WebhookStore,
    private readonly clock: Clock,
    private readonly rotateWebhook: RotateWebhook,
    private readonly createWebhook: CreateWebhook,
    private readonly changeWebhook: ChangeWebhook,
    private readonly deleteWebhook: DeleteWebhook,
    private readonly replayWebhook: ReplayWebhook,
    private readonly testWebhook: TestWebhook,
  ) {}

  @Needs(ownObjects)
  @Get()
  @Describe(
    'The webhooks of the caller without their secrets; all of them for administrators.',
    answerList(200, WebhookView),
  )
  list(@CurrentCaller() caller: Caller): WebhookView[] {
    return visibleWebhooks(this.store, caller).map((webhook) => this.present(webhook));
  }

  @Needs(ownObjects)
  @Post()
  @Describe(
    'Creates a webhook of the caller: at most 20. The response is the only one that contains its secret.',
    answer(201, CreatedWebhookView),
  )
  create(
    @Body() { name, url, events, scope }: CreateWebhookDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedWebhookView | PlanView> {
    return request.answer(
      query,
      this.createWebhook,
      [caller, { name, url, events, scope: scope && { ...scope } }],
      (webhook) => this.withSecret(webhook),
    );
  }

  @Needs(ownObjects)
  @Patch(':id')
  @Describe(
    'Changes the scope or the events of a webhook, from now on. Events that wait are judged by the new scope, too.',
    answer(200, WebhookView),
  )
  change(
    @Param() { id }: WebhookPath,
    @Body() { scope, events }: ChangeWebhookDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<WebhookView | PlanView> {
    const change = { scope: scope && { ...scope }, events };
    return request.answer(query, this.changeWebhook, [caller, id, change], (webhook) => this.present(webhook));
  }

  @Needs(ownObjects)
  @Delete(':id')
  @Describe('Deletes a webhook. Events that were not delivered yet are not sent.', answer(200, StatusView))
  remove(
    @Param() { id }: WebhookPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.deleteWebhook, [caller, id], () => ({ status: 'deleted' }));
  }

  @Needs(ownObjects)
  @Post(':id/replay')
  @Describe(
    'Delivers the events since a time again, and enables a disabled or paused webhook.',
    answer(200, StatusView),
  )
  @HttpCode(200)
  replay(
    @Param() { id }: WebhookPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Query() query: ReplayQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    const since = query.since === undefined ? undefined : new Date(query.since).toISOString();
    return request.answer(query, this.replayWebhook, [caller, id, since], () => ({ status: 'ok' }));
  }

  @Needs(ownObjects)
  @Post(':id/rotate')
  @HttpCode(200)
  @Describe(
    'Gives a webhook a new secret. Messages have the signatures of both for some hours. The response is the only one that contains it.',
    answer(200, CreatedWebhookView),
  )
  rotate(
    @Param() { id }: WebhookPath,
    @Body() { overlapHours = DEFAULT_OVERLAP_HOURS }: RotateWebhookDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedWebhookView | PlanView> {
    return request.answer(query, this.rotateWebhook, [caller, id, overlapHours], (webhook) => this.withSecret(webhook));
  }

  @Needs(ownObjects)
  @Post(':id/test')
  @HttpCode(200)
  @Describe(
    'Sends one signed message of the type webhook.test, and reports the answer: at most one in 5 seconds.',
    answer(200, WebhookTestView),
  )
  async test(
    @Param() { id }: WebhookPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
  ): Promise<WebhookTestView> {
    const { isAccepted, reason } = await this.testWebhook.run(caller, id, new AbortController().signal);
    return { result: isAccepted ? 'accepted' : 'failed', reason };
  }

  private withSecret(webhook: Webhook): CreatedWebhookView {
    return { ...this.present(webhook), secret: webhook.secret };
  }

  private present({
    secret: _secret,
    former,
    position: _position,
    url,
    events,
    scope = {},
    ...webhook
  }: Webhook): WebhookView {
    const isOverlapping = former !== undefined && Date.parse(former.until) > this.clock.now();
    return {
      ...webhook,
      url: displayUrl(url),
      events: [...events],
      scope: { ...scope },
      ...(isOverlapping && { formerSecretUntil: former.until }),
    };
  }
}
