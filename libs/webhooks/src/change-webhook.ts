import {
  buildPlan,
  Change,
  DomainError,
  type AccessScope,
  type Caller,
  type Plan,
  type Webhook,
  type WebhookEventType,
} from '@headgate/domain-contracts';
import { findWebhook } from './visible-webhooks.js';
import { scopeText, type WebhookDeps } from './webhook-changes.js';

/** New values; those that are left out stay. */
export interface WebhookChange {
  /** `{}` is everything that its creator may read. */
  readonly scope?: AccessScope | undefined;
  readonly events?: readonly WebhookEventType[] | undefined;
}

interface Prepared {
  readonly webhook: Webhook;
  readonly change: WebhookChange;
}

/** Changes the events that a webhook gets from now on. Those that wait are judged by the new scope as well. */
export class ChangeWebhook extends Change<[caller: Caller, id: string, change: WebhookChange], Webhook, Prepared> {
  constructor(private readonly deps: WebhookDeps) {
    super();
  }

  /** @throws DomainError WEBHOOK_NOT_FOUND, INVALID_INPUT */
  protected override prepare(caller: Caller, id: string, change: WebhookChange): Prepared {
    const webhook = findWebhook(this.deps.store, id, caller);
    if (change.scope === undefined && change.events === undefined)
      throw new DomainError('INVALID_INPUT', 'The request must have scope or events.');
    return { webhook, change };
  }

  protected override async planPrepared({ webhook, change }: Prepared): Promise<Plan> {
    return buildPlan([{ name: 'change webhook', detail: `${webhook.name}, ${describe(change)}` }]);
  }

  protected override async runPrepared({ webhook, change }: Prepared, caller: Caller): Promise<Webhook> {
    const { store, audit, dispatcher } = this.deps;
    const { scope, events } = change;
    return audit.of(
      caller,
      'change webhook',
      `webhook/${webhook.name}`,
      async () => {
        // Its deliveries go on meanwhile, and another request may change the other field, or delete it.
        await store.update(webhook.id, (current) => ({
          ...current,
          ...(scope && { scope }),
          ...(events && { events }),
        }));
        dispatcher.reload();
        return findWebhook(store, webhook.id, caller);
      },
      () => describe(change),
    );
  }
}

const describe = ({ scope, events }: WebhookChange): string =>
  [scope && scopeText(scope), events && `for ${events.join(', ')}`].filter(Boolean).join(', ');
