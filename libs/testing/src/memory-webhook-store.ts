import {
  DomainError,
  WebhookStore,
  type Webhook,
  type WebhookEvent,
  type WebhookEventType,
} from '@headgate/domain-contracts';

const MAX_EVENTS = 10_000;

/** WebhookStore in memory, which several replicas may share. */
export class MemoryWebhookStore extends WebhookStore {
  private readonly webhooks = new Map<string, Webhook>();
  private events: WebhookEvent[] = [];
  private newest = 0;
  private readonly listeners = new Set<(events: readonly WebhookEvent[]) => void>();

  constructor(private readonly maxEvents = MAX_EVENTS) {
    super();
  }

  override async put(webhook: Webhook): Promise<void> {
    if (
      [...this.webhooks.values()].some(
        ({ id, name, creator }) => name === webhook.name && creator === webhook.creator && id !== webhook.id,
      )
    )
      throw new DomainError('ALREADY_EXISTS', `The webhook ${webhook.name} already exists.`);
    this.webhooks.set(webhook.id, structuredClone(webhook));
    this.notify();
  }

  override async update(id: string, change: (webhook: Webhook) => Webhook | undefined): Promise<void> {
    const webhook = this.get(id);
    const changed = webhook && change(webhook);
    if (changed) await this.put(changed);
  }

  override get(id: string): Webhook | undefined {
    const webhook = this.webhooks.get(id);
    return webhook && structuredClone(webhook);
  }

  override all(): readonly Webhook[] {
    return [...this.webhooks.values()]
      .map((webhook) => structuredClone(webhook))
      .sort((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? -1 : 1));
  }

  override async delete(id: string): Promise<boolean> {
    const existed = this.webhooks.delete(id);
    this.notify();
    return existed;
  }

  override async append(events: readonly Omit<WebhookEvent, 'number'>[]): Promise<void> {
    const numbered = events.map((event) => ({ ...event, number: ++this.newest }));
    this.events = [...this.events, ...numbered].slice(-this.maxEvents);
    this.notify(numbered);
  }

  override subscribe(listener: (events: readonly WebhookEvent[]) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  override next(position: number, types: readonly WebhookEventType[]): WebhookEvent | undefined {
    return this.events.find(({ number, type }) => number > position && types.includes(type));
  }

  override bounds(): { readonly oldest: number; readonly newest: number } {
    return { oldest: this.events[0]?.number ?? 0, newest: this.newest };
  }

  override positionBefore(time: string): number {
    return (this.events.find((event) => event.time >= time)?.number ?? this.newest + 1) - 1;
  }

  private notify(events: readonly WebhookEvent[] = []): void {
    for (const listener of [...this.listeners]) listener(events);
  }
}
