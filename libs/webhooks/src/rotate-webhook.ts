import { buildPlan, Change, type Caller, type Plan, type Webhook } from '@headgate/domain-contracts';
import { newSecret } from './signature.js';
import { findWebhook } from './visible-webhooks.js';
import type { WebhookDeps } from './webhook-changes.js';

export const DEFAULT_OVERLAP_HOURS = 24;
export const MAX_OVERLAP_HOURS = 7 * 24;
const HOUR_MS = 60 * 60_000;

interface Rotation {
  readonly webhook: Webhook;
  readonly overlapHours: number;
}

/**
 * Gives a webhook a new secret. Messages are signed with both secrets for some hours, so that no message is refused
 * while the receiver gets the new one. A second rotation ends the overlap of the first.
 */
export class RotateWebhook extends Change<[caller: Caller, id: string, overlapHours: number], Webhook, Rotation> {
  constructor(private readonly deps: Pick<WebhookDeps, 'store' | 'clock' | 'audit'>) {
    super();
  }

  /** @throws DomainError WEBHOOK_NOT_FOUND */
  protected override prepare(caller: Caller, id: string, overlapHours: number): Rotation {
    return { webhook: findWebhook(this.deps.store, id, caller), overlapHours };
  }

  protected override async planPrepared({ webhook: { name }, overlapHours }: Rotation): Promise<Plan> {
    return buildPlan([{ name: 'rotate webhook', detail: `${name} gets a new secret, ${describe(overlapHours)}` }]);
  }

  protected override async runPrepared({ webhook, overlapHours }: Rotation, caller: Caller): Promise<Webhook> {
    const { store, clock, audit } = this.deps;
    const secret = newSecret();
    const until = new Date(clock.now() + overlapHours * HOUR_MS).toISOString();
    return audit.of(
      caller,
      'rotate webhook',
      `webhook/${webhook.name}`,
      async () => {
        // Its deliveries go on meanwhile, and another request may delete it.
        await store.update(webhook.id, ({ former: _former, ...current }) => ({
          ...current,
          secret,
          ...(overlapHours > 0 && { former: { secret: current.secret, until } }),
        }));
        return findWebhook(store, webhook.id, caller);
      },
      () => describe(overlapHours),
    );
  }
}

const describe = (overlapHours: number): string =>
  overlapHours === 0 ? 'and the former one is not used again' : `next to the former one for ${overlapHours} hours`;
