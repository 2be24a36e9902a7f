import { DomainError, type Caller, type Webhook, type WebhookStore } from '@headgate/domain-contracts';
import type { WebhookRights } from './webhook-rights.js';

/** The webhooks that a caller may see and change: their own, or all for an administrator. No API token sees any. */
export function visibleWebhooks(store: WebhookStore, { login, token, grant }: Caller): Webhook[] {
  if (token !== undefined) return [];
  return store.all().filter(({ creator }) => grant.allowsAll('manage') || (login !== '' && creator === login));
}

/** @throws DomainError WEBHOOK_NOT_FOUND, also for one that the caller may not see */
export function findWebhook(store: WebhookStore, id: string, caller: Caller): Webhook {
  const found = visibleWebhooks(store, caller).find((webhook) => webhook.id === id);
  if (!found) throw new DomainError('WEBHOOK_NOT_FOUND', `There is no webhook ${id.slice(0, 40)}.`);
  return found;
}

/**
 * Webhooks last longer than a request, so their creators need rights of their own.
 * @throws DomainError NOT_PERMITTED
 */
export function expectMayCreate({ login, token, grant }: Caller, rights: WebhookRights): void {
  const refusal = (message: string): DomainError => new DomainError('NOT_PERMITTED', message);
  if (token !== undefined) throw refusal(`${grant.label} can't create webhooks: they belong to users.`);
  if (login === '' && !grant.allowsAll('manage')) throw refusal('Log in first: a webhook belongs to a user.');
  if (!grant.readsShared) throw refusal(`${grant.label} has no right to read any instance.`);
  if (!rights.grantOf(login).readsShared)
    throw refusal('A webhook needs a role of your own: your groups are known during your own requests only.');
}
