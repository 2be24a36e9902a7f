import {
  DomainError,
  SILENT_LOG,
  WebhookStore,
  type Log,
  type Webhook,
  type WebhookEvent,
  type WebhookEventType,
} from '@headgate/domain-contracts';
import { SERVICE_WEBHOOKS } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { WatchedObjects, type StoredObject } from '../watched-objects.js';
import { EventLog } from './event-log.js';
import { hashedName } from '../hashed-name.js';

export interface WebhookSpec {
  readonly webhook: Webhook;
}

/** About 1 MB in the cluster, in 20 objects. */
const MAX_EVENTS = 2000;

/**
 * The name of the object of a webhook: a name belongs to one webhook of its creator only, because the API server
 * creates it once.
 */
const objectNameOf = ({ creator, name }: Pick<Webhook, 'creator' | 'name'>): string =>
  hashedName('webhook', JSON.stringify([creator, name]));

const isWebhook = ({ webhook }: Partial<WebhookSpec>): boolean =>
  [webhook?.id, webhook?.name, webhook?.url, webhook?.secret].every((field) => typeof field === 'string') &&
  Array.isArray(webhook?.events) &&
  Number.isInteger(webhook.position);

/**
 * WebhookStore in custom resources of a cluster: one for each webhook, with its secret, and one for about 100 events.
 */
export class KubeWebhookStore extends WebhookStore {
  private readonly objects: WatchedObjects<WebhookSpec>;
  private readonly events: EventLog;
  private readonly listeners = new Set<(events: readonly WebhookEvent[]) => void>();

  constructor(
    store: ClusterStore,
    { maxEvents = MAX_EVENTS, log = SILENT_LOG }: { readonly maxEvents?: number; readonly log?: Log } = {},
  ) {
    super();
    this.objects = new WatchedObjects(store, {
      resource: SERVICE_WEBHOOKS,
      subject: 'webhook',
      isComplete: isWebhook,
      onChange: () => this.report([]),
      log,
    });
    this.events = new EventLog(store, maxEvents, (events) => this.report(events), log);
  }

  /** @throws DomainError NOT_READY when the webhooks can't be used; they are left as they are */
  async open(): Promise<void> {
    await Promise.all([this.objects.open(), this.events.open()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.objects.close(), this.events.close()]);
  }

  override put(webhook: Webhook): Promise<void> {
    // One of an earlier release has another name.
    return this.objects.put(this.find(webhook.id)?.metadata.name ?? objectNameOf(webhook), (stored) => {
      if (stored && stored.webhook.id !== webhook.id)
        throw new DomainError(
          'ALREADY_EXISTS',
          `The webhook ${webhook.name} already exists; delete it or choose another name.`,
        );
      return { webhook };
    });
  }

  override async update(id: string, change: (webhook: Webhook) => Webhook | undefined): Promise<void> {
    const name = this.find(id)?.metadata.name;
    if (name === undefined) return;
    await this.objects.update(name, ({ webhook }) => {
      const changed = webhook.id === id ? change(structuredClone(webhook)) : undefined;
      return changed && { webhook: changed };
    });
  }

  override get(id: string): Webhook | undefined {
    const object = this.find(id);
    return object && structuredClone(object.spec.webhook);
  }

  override all(): readonly Webhook[] {
    return this.objects
      .all()
      .map(({ spec }) => structuredClone(spec.webhook))
      .sort((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? -1 : 1));
  }

  override async delete(id: string): Promise<boolean> {
    const object = this.find(id);
    return object ? this.objects.delete(object) : false;
  }

  override append(events: readonly Omit<WebhookEvent, 'number'>[]): Promise<void> {
    return this.events.append(events);
  }

  override next(position: number, types: readonly WebhookEventType[]): WebhookEvent | undefined {
    return this.events.next(position, types);
  }

  override bounds(): { readonly oldest: number; readonly newest: number } {
    return { oldest: this.events.oldest, newest: this.events.newest };
  }

  override positionBefore(time: string): number {
    return this.events.positionBefore(time);
  }

  override subscribe(listener: (events: readonly WebhookEvent[]) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private find(id: string): StoredObject<WebhookSpec> | undefined {
    return this.objects.all().find(({ spec }) => spec.webhook.id === id);
  }

  private report(events: readonly WebhookEvent[]): void {
    for (const listener of [...this.listeners]) listener(events);
  }
}
