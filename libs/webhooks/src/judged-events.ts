import type { Webhook, WebhookEvent, WebhookStore } from '@headgate/domain-contracts';
import type { Audience } from './audience.js';

/** How many events of others are judged before other work of the process has its turn. */
const MAX_JUDGED = 100;

interface Judged {
  /** The stored position of the webhook at which this began. */
  readonly from: number;
  /** The number of the last event that is not for it. */
  readonly until: number;
}

/** The next event of a webhook. Remembers those that are not for it, so that they cost no writes. */
export class JudgedEvents {
  private readonly judged = new Map<string, Judged>();

  constructor(
    private readonly store: Pick<WebhookStore, 'next'>,
    private readonly audience: Audience,
  ) {}

  /**
   * The next event with the body that the webhook gets; `later` when there may be one behind many of others.
   * @throws DomainError NOT_READY while the rights of its creator can't be read
   */
  next(webhook: Webhook): { readonly event: WebhookEvent; readonly body: string } | 'later' | undefined {
    for (let judged = 0; judged < MAX_JUDGED; judged++) {
      const event = this.after(webhook);
      if (!event) return undefined;
      const body = this.audience.bodyFor(webhook, event);
      if (body !== undefined) return { event, body };
      this.judged.set(webhook.id, { from: webhook.position, until: event.number });
    }
    return 'later';
  }

  /** Whether there are events that were not judged yet. */
  hasMore(webhook: Webhook): boolean {
    return this.after(webhook) !== undefined;
  }

  forgetOthers(webhooks: readonly Pick<Webhook, 'id'>[]): void {
    const ids = new Set(webhooks.map(({ id }) => id));
    for (const id of this.judged.keys()) if (!ids.has(id)) this.judged.delete(id);
  }

  private after(webhook: Webhook): WebhookEvent | undefined {
    const { id, position } = webhook;
    const judged = this.judged.get(id);
    // Another position is that of a delivery or of a replay.
    const from = judged?.from === position ? judged.until : position;
    return this.store.next(from, this.audience.typesFor(webhook));
  }
}
