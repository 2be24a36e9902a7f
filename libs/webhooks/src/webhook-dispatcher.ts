import {
  messageOf,
  type Clock,
  type Log,
  type Webhook,
  type WebhookEvent,
  type WebhookEventType,
  type WebhookStore,
} from '@headgate/domain-contracts';
import { signedHeaders } from './signature.js';
import type { WebhookSender } from './webhook-sender.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The pauses after failed attempts. After the last one, the webhook is disabled: about a day after the first. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  8 * HOUR_MS,
  12 * HOUR_MS,
];
/** The receiver asks not to be called any more. */
const GONE = 410;
/** Instances that change often are sent with their latest state only. */
const BATCH_INTERVAL_MS = 1000;
/** The pause before events are stored again, and how many wait for that. */
const STORE_RETRY_MS = 10_000;
const MAX_PENDING = 1000;
/** How far a position may lag behind events that are not for the webhook. */
const MAX_LAG = 1000;

export interface WebhookDispatcherDeps {
  readonly store: WebhookStore;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Delivers events to the webhooks, each in the order of the events and at its own speed. An event is sent again with the same ID until
 * the receiver has accepted it, so a receiver may see it twice.
 */
export class WebhookDispatcher {
  private readonly pending = new Map<string, Omit<WebhookEvent, 'number'>>();
  private readonly active = new Set<string>();
  private readonly timers = new Map<string, () => void>();
  private readonly closing = new AbortController();
  private cancelFlush: (() => void) | undefined;
  /** Whether any webhook is for an event type; others are not stored. */
  private wanted = new Set<WebhookEventType>();

  constructor(private readonly deps: WebhookDispatcherDeps) {}

  /** Continues the deliveries of an earlier process. */
  start(): void {
    this.reload();
  }

  /** Reads the webhooks again after they were changed. */
  reload(): void {
    const webhooks = this.deps.store.all();
    this.wanted = new Set(webhooks.flatMap(({ events }) => events));
    for (const { id } of webhooks) this.schedule(id);
  }

  wants(type: WebhookEventType): boolean {
    return this.wanted.has(type);
  }

  /** @param key a later event with the same key replaces this one if it has not been stored yet */
  publish(key: string, type: WebhookEventType, data: object): void {
    if (!this.wants(type)) return;
    const time = this.deps.clock.iso();
    this.pending.delete(key);
    this.pending.set(key, { type, time, body: JSON.stringify({ type, timestamp: time, data }) });
    // A task ends once: its event must not be lost with the process. Tasks also end while the service stops.
    if (type === 'task.ended' || this.closing.signal.aborted) this.flush();
    else this.cancelFlush ??= this.deps.clock.after(BATCH_INTERVAL_MS, () => this.flush());
  }

  /** Ends the deliveries. Later events are still stored, for the next process. */
  close(): void {
    this.flush();
    this.closing.abort();
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
  }

  private flush(): void {
    this.cancelFlush?.();
    this.cancelFlush = undefined;
    if (this.pending.size === 0) return;
    try {
      this.deps.store.append([...this.pending.values()]);
      this.pending.clear();
      for (const { id } of this.deps.store.all()) this.schedule(id);
    } catch (error) {
      this.keepPending(error);
    }
  }

  /** A store that can't be written, because the disk is full for example, must not fail what has caused the events. */
  private keepPending(error: unknown): void {
    const { log, clock } = this.deps;
    log.warn({ reason: messageOf(error), events: this.pending.size }, 'the events for webhooks could not be stored');
    for (const key of this.pending.keys()) {
      if (this.pending.size <= MAX_PENDING) break;
      this.pending.delete(key);
    }
    if (!this.closing.signal.aborted) this.cancelFlush = clock.after(STORE_RETRY_MS, () => this.flush());
  }

  /** Begins the deliveries of a webhook, now or when its next attempt is due. */
  private schedule(id: string): void {
    this.timers.get(id)?.();
    this.timers.delete(id);
    const { store, clock } = this.deps;
    const webhook = store.get(id);
    if (!webhook || webhook.disabled || this.active.has(id) || this.closing.signal.aborted) return;
    const waitMs = webhook.nextAttemptAt === null ? 0 : Date.parse(webhook.nextAttemptAt) - clock.now();
    if (waitMs > 0)
      this.timers.set(
        id,
        clock.after(waitMs, () => this.schedule(id)),
      );
    else void this.deliverAll(id);
  }

  private async deliverAll(id: string): Promise<void> {
    this.active.add(id);
    try {
      while (await this.deliverNext(id));
    } catch (error) {
      this.deps.log.warn({ webhook: id, reason: messageOf(error) }, 'the deliveries of a webhook stopped');
      return;
    } finally {
      this.active.delete(id);
    }
    const next = this.deps.store.get(id);
    if (next && next.attempts > 0) this.schedule(id);
  }

  /** @returns whether to go on with the next event at once */
  private async deliverNext(id: string): Promise<boolean> {
    const { store, sender, clock } = this.deps;
    const webhook = this.closing.signal.aborted ? undefined : store.get(id);
    if (!webhook || webhook.disabled) return false;
    const position = this.skipMissed(webhook);
    const event = store.next(position, webhook.events);
    if (!event) {
      this.skipOthers(webhook);
      return false;
    }
    const message = {
      id: `msg_${id}_${event.number}`,
      timestampSeconds: Math.floor(clock.now() / SECOND_MS),
      body: event.body,
    };
    let problem: string;
    let status = 0;
    try {
      status = await sender.send({
        url: webhook.url,
        headers: signedHeaders(message, webhook.secret),
        body: event.body,
        signal: this.closing.signal,
      });
      problem = status >= 200 && status < 300 ? '' : `The receiver answered with status ${status}.`;
    } catch (error) {
      problem = messageOf(error) || 'The receiver did not answer.';
    }
    if (this.closing.signal.aborted) return false;
    // It may have been changed or deleted meanwhile.
    const current = store.get(id);
    if (!current || current.position > event.number || current.position < webhook.position)
      return current !== undefined;
    store.put(problem === '' ? this.delivered(current, event) : this.failed(current, problem, status));
    return problem === '';
  }

  private delivered(webhook: Webhook, { number }: WebhookEvent): Webhook {
    return {
      ...webhook,
      position: number,
      attempts: 0,
      nextAttemptAt: null,
      lastError: '',
      lastDeliveredAt: this.deps.clock.iso(),
    };
  }

  private failed(webhook: Webhook, problem: string, status: number): Webhook {
    const delayMs = RETRY_DELAYS_MS[webhook.attempts];
    const attempts = webhook.attempts + 1;
    if (delayMs === undefined || status === GONE) {
      this.deps.log.warn({ webhook: webhook.id, reason: problem }, 'a webhook was disabled');
      return { ...webhook, attempts, nextAttemptAt: null, lastError: problem, disabled: true };
    }
    const nextAttemptAt = new Date(this.deps.clock.now() + delayMs).toISOString();
    return { ...webhook, attempts, nextAttemptAt, lastError: problem };
  }

  /** Follows the log when it has only events of other types, so that those are not counted as missed later. */
  private skipOthers(webhook: Webhook): void {
    const { newest } = this.deps.store.bounds();
    if (newest - webhook.position >= MAX_LAG) this.deps.store.put({ ...webhook, position: newest });
  }

  /** Counts the events that were dropped from the log before they were delivered. */
  private skipMissed(webhook: Webhook): number {
    const { oldest } = this.deps.store.bounds();
    if (webhook.position >= oldest - 1) return webhook.position;
    const missed = webhook.missed + (oldest - 1 - webhook.position);
    this.deps.store.put({ ...webhook, position: oldest - 1, missed });
    return oldest - 1;
  }
}
