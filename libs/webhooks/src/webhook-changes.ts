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

export interface CreateWebhookRequest {
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
export class CreateWebhook extends Change<[request: CreateWebhookRequest], Webhook, CreateWebhookRequest> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  /** Checked when it is recorded, so that a refusal has an entry in the audit log. */
  protected override prepare(request: CreateWebhookRequest): CreateWebhookRequest {
    return request;
  }

  protected override async planPrepared(request: CreateWebhookRequest): Promise<Plan> {
    this.expectPossible(request);
    return buildPlan([{ name: 'create webhook', detail: `${request.name}, to ${displayUrl(request.url)}` }]);
  }

  protected override async runPrepared(request: CreateWebhookRequest, caller: Caller): Promise<Webhook> {
    const { store, clock, audit, dispatcher } = this.deps;
    return audit.of(
      caller,
      'create webhook',
      `webhook/${request.name}`,
      async () => {
        this.expectPossible(request);
        const webhook: Webhook = {
          id: randomBytes(ID_BYTES).toString('hex'),
          name: request.name,
          url: request.url,
          secret: newSecret(),
          events: request.events,
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
      () => `to ${displayUrl(request.url)}`,
    );
  }

  /** @throws DomainError ALREADY_EXISTS, CONFLICT, INVALID_INPUT */
  private expectPossible({ name, url }: CreateWebhookRequest): void {
    const webhooks = this.deps.store.all();
    if (webhooks.some((webhook) => webhook.name === name))
      throw new DomainError('ALREADY_EXISTS', `The webhook ${name} already exists; delete it or choose another name.`);
    if (webhooks.length >= MAX_WEBHOOKS)
      throw new DomainError('CONFLICT', `There are ${MAX_WEBHOOKS} webhooks already; delete one that is not needed.`);
    this.deps.sender.check(url);
  }
}

/** Deletes a webhook. Events that were not delivered yet are not sent. */
export class DeleteWebhook extends Change<[id: string], void, Webhook> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  protected override prepare(id: string): Webhook {
    return expectWebhook(this.deps.store, id);
  }

  protected override async planPrepared({ name }: Webhook): Promise<Plan> {
    return buildPlan([{ name: 'delete webhook', detail: name }]);
  }

  protected override async runPrepared({ id, name }: Webhook, caller: Caller): Promise<void> {
    const { store, audit, dispatcher } = this.deps;
    await audit.of(caller, 'delete webhook', `webhook/${name}`, async () => {
      await store.delete(id);
      dispatcher.reload();
    });
  }
}

interface Replay {
  readonly webhook: Webhook;
  /** From this time on, in ISO 8601. Absent: from where it has stopped. */
  readonly since: string | undefined;
}

/** Delivers events again, or those that a disabled webhook has not received. Enables the webhook. */
export class ReplayWebhook extends Change<[id: string, since: string | undefined], void, Replay> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  protected override prepare(id: string, since: string | undefined): Replay {
    return { webhook: expectWebhook(this.deps.store, id), since };
  }

  protected override async planPrepared({ webhook: { name }, since }: Replay): Promise<Plan> {
    return buildPlan([{ name: 'replay events', detail: `to ${name}, ${fromWhen(since)}` }]);
  }

  protected override async runPrepared({ webhook: { id, name }, since }: Replay, caller: Caller): Promise<void> {
    const { store, audit, dispatcher } = this.deps;
    await audit.of(
      caller,
      'replay webhook',
      `webhook/${name}`,
      async () => {
        const position = since === undefined ? undefined : store.positionBefore(since);
        await store.update(id, (webhook) => ({
          ...webhook,
          attempts: 0,
          nextAttemptAt: null,
          lastError: '',
          disabled: false,
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
