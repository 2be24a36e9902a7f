import { WebhookStore, type Webhook, type WebhookEvent, type WebhookEventType } from '@headgate/domain-contracts';

const MAX_EVENTS = 10_000;

/** WebhookStore in memory. */
export class MemoryWebhookStore extends WebhookStore {
  private readonly webhooks = new Map<string, Webhook>();
  private events: WebhookEvent[] = [];
  private newest = 0;

  constructor(private readonly maxEvents = MAX_EVENTS) {
    super();
  }

  override put(webhook: Webhook): void {
    this.webhooks.set(webhook.id, structuredClone(webhook));
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

  override delete(id: string): boolean {
    return this.webhooks.delete(id);
  }

  override append(events: readonly Omit<WebhookEvent, 'number'>[]): void {
    for (const event of events) this.events.push({ ...event, number: ++this.newest });
    this.events = this.events.slice(-this.maxEvents);
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
}
