import {
  WebhookStore,
  type Webhook,
  type WebhookEvent,
  type WebhookEventSubjects,
  type WebhookEventType,
} from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

const MAX_EVENTS = 10_000;

/** WebhookStore over the registry. Keeps the newest 10,000 events. */
export class SqliteWebhookStore extends WebhookStore {
  constructor(
    private readonly database: RegistryDatabase,
    private readonly maxEvents = MAX_EVENTS,
  ) {
    super();
  }

  override async put(webhook: Webhook): Promise<void> {
    this.database.run(
      `INSERT INTO webhook (id, created_at, body) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, body = excluded.body`,
      webhook.id,
      webhook.createdAt,
      JSON.stringify(webhook),
    );
  }

  override async update(id: string, change: (webhook: Webhook) => Webhook | undefined): Promise<void> {
    const webhook = this.get(id);
    const changed = webhook && change(webhook);
    if (changed) await this.put(changed);
  }

  override get(id: string): Webhook | undefined {
    const row = this.database.get<{ body: string }>('SELECT body FROM webhook WHERE id = ?', id);
    return row && (JSON.parse(row.body) as Webhook);
  }

  override all(): readonly Webhook[] {
    return this.database
      .all<{ body: string }>('SELECT body FROM webhook ORDER BY created_at, id')
      .map(({ body }) => JSON.parse(body) as Webhook);
  }

  override async delete(id: string): Promise<boolean> {
    return this.database.run('DELETE FROM webhook WHERE id = ?', id) > 0;
  }

  override async append(events: readonly Omit<WebhookEvent, 'number'>[]): Promise<void> {
    this.database.transaction(() => {
      for (const { type, time, body, about } of events)
        this.database.run(
          'INSERT INTO webhook_event (type, time, body, about) VALUES (?, ?, ?, ?)',
          type,
          time,
          body,
          about === undefined ? null : JSON.stringify(about),
        );
      this.database.run('DELETE FROM webhook_event WHERE number <= ?', this.bounds().newest - this.maxEvents);
    });
  }

  override next(position: number, types: readonly WebhookEventType[]): WebhookEvent | undefined {
    const row = this.database.get<Omit<WebhookEvent, 'about'> & { readonly about: string | null }>(
      `SELECT number, type, time, body, about FROM webhook_event WHERE number > ?
         AND type IN (SELECT value FROM json_each(?)) ORDER BY number LIMIT 1`,
      position,
      JSON.stringify(types),
    );
    if (!row) return undefined;
    const { about, ...event } = row;
    return { ...event, ...(about !== null && { about: JSON.parse(about) as WebhookEventSubjects }) };
  }

  override bounds(): { readonly oldest: number; readonly newest: number } {
    const row = this.database.get<{ oldest: number; newest: number }>(
      'SELECT coalesce(min(number), 0) AS oldest, coalesce(max(number), 0) AS newest FROM webhook_event',
    );
    return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 };
  }

  override positionBefore(time: string): number {
    const { newest } = this.bounds();
    const first = this.database.count(
      'SELECT coalesce(min(number), ?) AS n FROM webhook_event WHERE time >= ?',
      newest + 1,
      time,
    );
    return first - 1;
  }
}
