import { randomBytes } from 'node:crypto';
import {
  buildPlan,
  Change,
  displayUrl,
  DomainError,
  type Audit,
  type Caller,
  type Clock,
  type Plan,
  type Webhook,
  type WebhookEventType,
  type WebhookStore,
} from '@headgate/domain-contracts';
import { newSecret } from './signature.js';
import type { WebhookDispatcher } from './webhook-dispatcher.js';
import type { WebhookSender } from './webhook-sender.js';

export const MAX_WEBHOOKS = 20;
const ID_BYTES = 6;

export interface WebhookOrder {
  readonly name: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
}

export interface WebhookDeps {
  readonly store: WebhookStore;
  readonly dispatcher: WebhookDispatcher;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly audit: Audit;
}

/** Creates a webhook for the events from now on. */
export class CreateWebhook extends Change<[order: WebhookOrder], Webhook> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  override async plan(order: WebhookOrder): Promise<Plan> {
    this.expectPossible(order);
    return buildPlan([{ name: 'create webhook', detail: `${order.name}, to ${displayUrl(order.url)}` }]);
  }

  override async run(order: WebhookOrder, caller: Caller): Promise<Webhook> {
    const { store, clock, audit, dispatcher } = this.deps;
    return audit.of(
      caller,
      'create webhook',
      `webhook/${order.name}`,
      async () => {
        this.expectPossible(order);
        const webhook: Webhook = {
          id: randomBytes(ID_BYTES).toString('hex'),
          name: order.name,
          url: order.url,
          secret: newSecret(),
          events: order.events,
          creator: caller.login,
          createdAt: clock.iso(),
          position: store.bounds().newest,
          attempts: 0,
          nextAttemptAt: null,
          lastError: '',
          lastDeliveredAt: null,
          disabled: false,
          missed: 0,
        };
        await store.put(webhook);
        dispatcher.reload();
        return webhook;
      },
      () => `to ${displayUrl(order.url)}`,
    );
  }

  /** @throws DomainError ALREADY_EXISTS, CONFLICT, INVALID_INPUT */
  private expectPossible({ name, url }: WebhookOrder): void {
    const webhooks = this.deps.store.all();
    if (webhooks.some((webhook) => webhook.name === name))
      throw new DomainError('ALREADY_EXISTS', `There is a webhook ${name} already; delete it or choose another name.`);
    if (webhooks.length >= MAX_WEBHOOKS)
      throw new DomainError('CONFLICT', `There are ${MAX_WEBHOOKS} webhooks already; delete one that is not needed.`);
    this.deps.sender.check(url);
  }
}

/** Deletes a webhook. Events that were not delivered yet are not sent. */
export class DeleteWebhook extends Change<[id: string]> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  override async plan(id: string): Promise<Plan> {
    return buildPlan([{ name: 'delete webhook', detail: expectWebhook(this.deps.store, id).name }]);
  }

  override async run(id: string, caller: Caller): Promise<void> {
    const { store, audit, dispatcher } = this.deps;
    const { name } = expectWebhook(store, id);
    await audit.of(caller, 'delete webhook', `webhook/${name}`, async () => {
      await store.delete(id);
      dispatcher.reload();
    });
  }
}

/** Delivers events again, or those that a disabled webhook has not received. Enables the webhook. */
export class ReplayWebhook extends Change<[id: string, since: string | undefined]> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  override async plan(id: string, since: string | undefined): Promise<Plan> {
    const { name } = expectWebhook(this.deps.store, id);
    return buildPlan([{ name: 'replay events', detail: `to ${name}, ${fromWhen(since)}` }]);
  }

  override async run(id: string, since: string | undefined, caller: Caller): Promise<void> {
    const { store, audit, dispatcher } = this.deps;
    const { name } = expectWebhook(store, id);
    await audit.of(
      caller,
      'replay webhook',
      `webhook/${name}`,
      async () => {
        const position = since === undefined ? undefined : store.positionBefore(since);
        await store.update(id, (webhook) => ({
          ...webhook,
          ...{ attempts: 0, nextAttemptAt: null, lastError: '', disabled: false },
          ...(position !== undefined && { position }),
        }));
        dispatcher.reload();
      },
      () => fromWhen(since),
    );
  }
}

const fromWhen = (since: string | undefined): string =>
  since === undefined ? 'where it has stopped' : `since ${since}`;

/** @throws DomainError WEBHOOK_NOT_FOUND */
export function expectWebhook(store: WebhookStore, id: string): Webhook {
  const webhook = store.get(id);
  if (!webhook) throw new DomainError('WEBHOOK_NOT_FOUND', `There is no webhook ${id.slice(0, 40)}.`);
  return webhook;
}
