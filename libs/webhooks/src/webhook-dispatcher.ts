import {
  messageOf,
  RETRY_DELAYS_MS,
  type Clock,
  type Log,
  type Replicas,
  type Webhook,
  type WebhookEvent,
  type WebhookEventType,
  type WebhookStore,
} from '@headgate/domain-contracts';
import { Audience, type EventSubjects } from './audience.js';
import { JudgedEvents } from './judged-events.js';
import { PendingEvents, STORE_RETRY_MS } from './pending-events.js';
import { secretsOf, signedHeaders } from './signature.js';
import type { WebhookRights } from './webhook-rights.js';
import type { WebhookSender } from './webhook-sender.js';

const SECOND_MS = 1000;
/** The receiver asks not to be called any more. */
const GONE = 410;
/** How far a position may lag behind events that are not for the webhook. */
const MAX_LAG = 1000;

export interface WebhookDispatcherDeps {
  readonly store: WebhookStore;
  readonly sender: WebhookSender;
  readonly rights: WebhookRights;
  readonly clock: Clock;
  readonly log: Log;
  readonly replicas: Pick<Replicas, 'isLeader' | 'subscribe'>;
}

/** A new event of the service. */
export interface PublishedEvent {
  /** A later event with the same key replaces this one if it has not been stored yet. */
  readonly key: string;
  readonly type: WebhookEventType;
  readonly data: object;
  readonly about: EventSubjects;
}

/**
 * Delivers events to the webhooks, each in the order of the events and at its own speed. An event is sent again with
 * the same ID until the receiver has accepted it, so a receiver may see it twice. Of several replicas, only the leader
 * stores and delivers events. The others remember the latest ones, and the next leader stores those that its
 * predecessor has not.
 */
export class WebhookDispatcher {
  private readonly active = new Set<string>();
  private readonly timers = new Map<string, () => void>();
  /** Ends the deliveries when this replica is no longer the leader. */
  private term = new AbortController();
  private isClosed = false;
  private readonly unsubscribers: (() => void)[] = [];
  /** As they were last read: an event must not cost a read of all of them. */
  private webhooks: readonly Webhook[] = [];
  /** Whether any webhook is for an event type; others are not stored. */
  private wanted = new Set<WebhookEventType>();
  private readonly pending: PendingEvents;
  private readonly audience: Audience;
  private readonly judged: JudgedEvents;
  private onReload = (): void => undefined;

  constructor(private readonly deps: WebhookDispatcherDeps) {
    this.audience = new Audience(deps.rights);
    this.judged = new JudgedEvents(deps.store, this.audience);
    this.pending = new PendingEvents({ ...deps, onStored: () => this.scheduleAll() });
  }

  /** Continues the deliveries of an earlier process, or of an earlier leader. */
  start(): void {
    const { store, replicas } = this.deps;
    this.unsubscribers.push(
      store.subscribe((events) => this.receive(events)),
      replicas.subscribe({ elected: () => this.beginTerm(), deposed: () => this.endTerm() }),
    );
    this.reload();
  }

  /** Reads the webhooks again after they were changed. */
  reload(): void {
    this.webhooks = this.deps.store.all();
    this.wanted = new Set(this.webhooks.flatMap((webhook) => this.audience.typesFor(webhook)));
    this.judged.forgetOthers(this.webhooks);
    this.onReload();
    this.scheduleAll();
  }

  wants(type: WebhookEventType): boolean {
    return this.wanted.has(type);
  }

  /** @param listener called when other types of events may be wanted */
  whenReloaded(listener: () => void): void {
    this.onReload = listener;
  }

  /** Stores an event if a webhook may get it. Whether it does is decided again with each delivery. */
  publish({ key, type, data, about }: PublishedEvent): void {
    if (!this.wants(type)) return;
    const time = this.deps.clock.iso();
    const body = JSON.stringify({ type, timestamp: time, data });
    const seenBy = this.audience.seenBy(this.webhooks, { type, body, about });
    const event = { type, time, body, about: { ...about, seenBy: seenBy ?? [] } };
    // It may replace one that is wanted, of an instance that has left the view of a webhook since.
    this.pending.add(key, event, seenBy !== undefined);
  }

  /** Ends the deliveries. Later events are still stored, for the next process. */
  close(): void {
    for (const unsubscribe of this.unsubscribers) unsubscribe();
    this.pending.close();
    this.isClosed = true;
    this.endTerm();
  }

  private beginTerm(): void {
    if (this.isClosed) return;
    this.term = new AbortController();
    this.pending.beginTerm();
    this.reload();
  }

  private endTerm(): void {
    this.term.abort();
    this.pending.endTerm();
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
  }

  /** Another replica has changed the webhooks, or the leader has stored events. */
  private receive(events: readonly WebhookEvent[]): void {
    this.pending.receive(events);
    this.reload();
  }

  private scheduleAll(): void {
    for (const { id } of this.deps.store.all()) this.schedule(id);
  }

  /** Begins the deliveries of a webhook, now or when its next attempt is due. */
  private schedule(id: string): void {
    this.timers.get(id)?.();
    this.timers.delete(id);
    const { store, clock, replicas } = this.deps;
    const webhook = store.get(id);
    if (!webhook || !isActive(webhook) || this.active.has(id) || this.isClosed || !replicas.isLeader) return;
    const waitMs = webhook.nextAttemptAt === null ? 0 : Date.parse(webhook.nextAttemptAt) - clock.now();
    // A former leader whose clock is ahead has written a time that is later than any pause.
    const longestMs = RETRY_DELAYS_MS[webhook.attempts - 1] ?? 0;
    if (waitMs > 0 && waitMs <= longestMs) this.scheduleAfter(id, waitMs);
    else void this.deliverAll(id, this.term.signal);
  }

  private scheduleAfter(id: string, waitMs: number): void {
    this.timers.set(
      id,
      this.deps.clock.after(waitMs, () => this.schedule(id)),
    );
  }

  private async deliverAll(id: string, signal: AbortSignal): Promise<void> {
    const { store, log } = this.deps;
    this.active.add(id);
    try {
      while (await this.deliverNext(id, signal));
    } catch (error) {
      log.warn({ webhook: id, reason: messageOf(error) }, 'the deliveries of a webhook stopped');
      if (!signal.aborted) return this.scheduleAfter(id, STORE_RETRY_MS);
    } finally {
      this.active.delete(id);
    }
    // This replica may be the leader again, or an event was stored at the last moment.
    const webhook = store.get(id);
    if (webhook && isActive(webhook) && (webhook.attempts > 0 || this.judged.hasMore(webhook))) this.schedule(id);
  }

  /** @returns whether to go on with the next event immediately */
  private async deliverNext(id: string, signal: AbortSignal): Promise<boolean> {
    const { store, sender, clock } = this.deps;
    const webhook = signal.aborted ? undefined : store.get(id);
    if (!webhook || !isActive(webhook)) return false;
    const paused = this.audience.pauseOf(webhook);
    if (paused !== undefined) {
      await store.update(id, (current) => ({ ...current, paused }));
      this.deps.log.warn({ webhook: id, reason: paused }, 'a webhook was paused');
      return false;
    }
    const position = await this.skipMissed(webhook);
    // It may have another scope meanwhile. The rights are judged in the same turn as the request begins.
    const latest = position === webhook.position ? webhook : (store.get(id) ?? webhook);
    const found = this.judged.next({ ...latest, position });
    if (found === 'later') return true;
    if (!found) {
      await this.skipOthers(webhook);
      return false;
    }
    const { event, body } = found;
    const message = {
      id: `msg_${id}_${event.number}`,
      timestampSeconds: Math.floor(clock.now() / SECOND_MS),
      body,
    };
    let problem: string;
    let status = 0;
    try {
      status = await sender.send({
        url: webhook.url,
        headers: signedHeaders(message, ...secretsOf(webhook, clock.now())),
        body,
        signal,
      });
      problem = status >= 200 && status < 300 ? '' : `The receiver answered with status ${status}.`;
    } catch (error) {
      problem = messageOf(error) || 'The receiver did not answer.';
    }
    if (signal.aborted) return false;
    let wasChanged = false;
    await store.update(id, (current) => {
      // By a replay, for example.
      wasChanged = current.position > event.number || current.position < webhook.position;
      if (wasChanged) return undefined;
      return problem === '' ? this.delivered(current, event) : this.failed(current, problem, status);
    });
    return wasChanged || problem === '';
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
  private async skipOthers({ id, position, attempts }: Webhook): Promise<void> {
    const { newest } = this.deps.store.bounds();
    if (newest - position < MAX_LAG && attempts === 0) return;
    // The event whose delivery has failed is not for it any more.
    const none = { attempts: 0, nextAttemptAt: null, lastError: '' };
    await this.deps.store.update(id, (webhook) =>
      webhook.position === position ? { ...webhook, ...none, position: newest } : undefined,
    );
  }

  /** Counts the events that were dropped from the log before they were delivered. */
  private async skipMissed({ id, position }: Webhook): Promise<number> {
    const next = this.deps.store.bounds().oldest - 1;
    if (position >= next) return position;
    await this.deps.store.update(id, (webhook) =>
      webhook.position < next
        ? { ...webhook, position: next, missed: webhook.missed + next - webhook.position }
        : undefined,
    );
    return next;
  }
}

const isActive = ({ disabled, paused }: Webhook): boolean => !disabled && paused === undefined;
