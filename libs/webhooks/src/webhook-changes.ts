import { randomBytes } from 'node:crypto';
import {
  buildPlan,
  Change,
  displayUrl,
  DomainError,
  type AccessScope,
  type Audit,
  type Caller,
  type Clock,
  type Plan,
  type Webhook,
  type WebhookEventType,
  type WebhookStore,
} from '@headgate/domain-contracts';
import { newSecret } from './signature.js';
import { expectMayCreate, findWebhook } from './visible-webhooks.js';
import type { WebhookDispatcher } from './webhook-dispatcher.js';
import type { WebhookRights } from './webhook-rights.js';
import type { WebhookSender } from './webhook-sender.js';

export const MAX_WEBHOOKS_PER_CREATOR = 20;
/** Of all creators together. */
export const MAX_WEBHOOKS = 200;
const ID_BYTES = 6;

export interface CreateWebhookRequest {
  readonly name: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  /** Without one, all that its creator may read. */
  readonly scope?: AccessScope | undefined;
}

export interface WebhookDeps {
  readonly store: WebhookStore;
  readonly dispatcher: WebhookDispatcher;
  readonly sender: WebhookSender;
  readonly rights: WebhookRights;
  readonly clock: Clock;
  readonly audit: Audit;
}

interface Creation {
  readonly caller: Caller;
  readonly request: CreateWebhookRequest;
}

/** Creates a webhook of its caller for the events from now on. */
export class CreateWebhook extends Change<[caller: Caller, request: CreateWebhookRequest], Webhook, Creation> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  /** Checked when it is recorded, so that a refusal has an entry in the audit log. */
  protected override prepare(caller: Caller, request: CreateWebhookRequest): Creation {
    return { caller, request };
  }

  protected override async planPrepared({ caller, request }: Creation): Promise<Plan> {
    this.expectPossible(caller, request);
    return buildPlan([{ name: 'create webhook', detail: `${request.name}, ${describe(request)}` }]);
  }

  protected override async runPrepared({ request }: Creation, caller: Caller): Promise<Webhook> {
    const { store, clock, audit, dispatcher } = this.deps;
    const { scope = {} } = request;
    return audit.of(
      caller,
      'create webhook',
      `webhook/${request.name}`,
      async () => {
        this.expectPossible(caller, request);
        const webhook: Webhook = {
          id: randomBytes(ID_BYTES).toString('hex'),
          name: request.name,
          url: request.url,
          secret: newSecret(),
          events: request.events,
          ...(Object.keys(scope).length > 0 && { scope }),
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
      () => describe(request),
    );
  }

  /** @throws DomainError NOT_PERMITTED, ALREADY_EXISTS, CONFLICT, INVALID_INPUT */
  private expectPossible(caller: Caller, { name, url }: CreateWebhookRequest): void {
    const { store, rights } = this.deps;
    expectMayCreate(caller, rights);
    const all = store.all();
    const own = all.filter(({ creator }) => creator === caller.login);
    if (own.some((webhook) => webhook.name === name))
      throw new DomainError('ALREADY_EXISTS', `The webhook ${name} already exists; delete it or choose another name.`);
    if (own.length >= MAX_WEBHOOKS_PER_CREATOR)
      throw new DomainError('CONFLICT', `You have ${MAX_WEBHOOKS_PER_CREATOR} webhooks already; delete one of them.`);
    if (all.length >= MAX_WEBHOOKS)
      throw new DomainError('CONFLICT', `The service has ${MAX_WEBHOOKS} webhooks already; delete some of them.`);
    this.deps.sender.check(url);
  }
}

/** Deletes a webhook. Events that were not delivered yet are not sent. */
export class DeleteWebhook extends Change<[caller: Caller, id: string], void, Webhook> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  /** @throws DomainError WEBHOOK_NOT_FOUND */
  protected override prepare(caller: Caller, id: string): Webhook {
    return findWebhook(this.deps.store, id, caller);
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

/** Delivers events again, or those that a disabled or paused webhook has not received. Enables the webhook. */
export class ReplayWebhook extends Change<[caller: Caller, id: string, since: string | undefined], void, Replay> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  /** @throws DomainError WEBHOOK_NOT_FOUND */
  protected override prepare(caller: Caller, id: string, since: string | undefined): Replay {
    return { webhook: findWebhook(this.deps.store, id, caller), since };
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
        await store.update(id, ({ paused: _paused, ...webhook }) => ({
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

/** The words for a scope: "for the folder prod, the words web". */
export function scopeText({ kind, context, folder, q }: AccessScope): string {
  const parts = [
    kind && { vm: 'VMs', ct: 'containers' }[kind],
    context !== undefined && `the context ${context}`,
    folder !== undefined && `the folder ${folder}`,
    q !== undefined && `the words ${q}`,
  ].filter(Boolean);
  return `for ${parts.length === 0 ? 'everything that its creator may read' : parts.join(', ')}`;
}

const describe = ({ url, scope = {} }: CreateWebhookRequest): string => `to ${displayUrl(url)}, ${scopeText(scope)}`;
