import {
  messageOf,
  type Clock,
  type Log,
  type Replicas,
  type WebhookEvent,
  type WebhookStore,
} from '@headgate/domain-contracts';

/** Instances that change often are sent with their latest state only. */
const BATCH_INTERVAL_MS = 1000;
/** The pause before events are stored again, and how many wait for that. */
export const STORE_RETRY_MS = 10_000;
const MAX_PENDING = 1000;
/** How long a replica that is not the leader remembers events: longer than it takes until another one is the leader. */
const REMEMBERED_MS = 120_000;

export type PendingEvent = Omit<WebhookEvent, 'number'>;

export interface PendingEventsDeps {
  readonly store: Pick<WebhookStore, 'append'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly replicas: Pick<Replicas, 'isLeader'>;
  /** Called when events were stored. */
  readonly onStored: () => void;
}

/**
 * The events that are not in the log yet. The leader collects those of a second and stores them. The other replicas
 * remember the latest ones that they have not seen in the log, and the next leader stores those.
 */
export class PendingEvents {
  private pending = new Map<string, PendingEvent>();
  /** When the events of the leader were received, by their type and data. */
  private readonly received = new Map<string, number>();
  private isClosed = false;
  private cancelFlush: (() => void) | undefined;

  constructor(private readonly deps: PendingEventsDeps) {}

  /**
   * @param key a later event with the same key replaces this one if it has not been stored yet
   * @param isWanted without it, the event is only added if it replaces one that is
   */
  add(key: string, newEvent: PendingEvent, isWanted = true): void {
    const replaced = this.pending.get(key);
    if (!isWanted && !replaced) return;
    const event = replaced ? joined(replaced, newEvent) : newEvent;
    if (!this.deps.replicas.isLeader) return this.remember(key, event);
    this.pending.delete(key);
    this.pending.set(key, event);
    // A task ends once: its event must not be lost with the process. Tasks also end while the service stops.
    if (event.type === 'task.ended' || this.isClosed) this.flush();
    else this.cancelFlush ??= this.deps.clock.after(BATCH_INTERVAL_MS, () => this.flush());
  }

  /** The leader has stored events. */
  receive(events: readonly WebhookEvent[]): void {
    if (this.deps.replicas.isLeader) return;
    this.forgetOld();
    for (const event of events) {
      // The newest ones are the last.
      this.received.delete(textOf(event));
      this.received.set(textOf(event), this.deps.clock.now());
    }
    dropOldest(this.received);
    for (const [key, event] of this.pending) if (this.received.has(textOf(event))) this.pending.delete(key);
  }

  /** This replica is the leader from now on. */
  beginTerm(): void {
    this.forgetOld();
    this.flush();
  }

  /** Another replica stores the events from now on. */
  endTerm(): void {
    this.cancelFlush?.();
    this.cancelFlush = undefined;
  }

  /** Stores the events. Later ones are still stored, immediately. */
  close(): void {
    this.flush();
    this.isClosed = true;
    this.endTerm();
  }

  /** Keeps an event, in case the leader ends before it has stored the event itself. */
  private remember(key: string, event: PendingEvent): void {
    this.forgetOld();
    this.pending.delete(key);
    if (this.received.has(textOf(event))) return;
    this.pending.set(key, event);
    dropOldest(this.pending);
  }

  private forgetOld(): void {
    const oldest = this.deps.clock.now() - REMEMBERED_MS;
    for (const [text, receivedAt] of this.received) {
      if (receivedAt >= oldest) break;
      this.received.delete(text);
    }
    for (const [key, { time }] of this.pending) {
      if (Date.parse(time) >= oldest) break;
      this.pending.delete(key);
    }
  }

  private flush(): void {
    this.cancelFlush?.();
    this.cancelFlush = undefined;
    if (this.pending.size === 0 || !this.deps.replicas.isLeader) return;
    const events = this.pending;
    this.pending = new Map();
    void this.append(events);
  }

  private async append(events: ReadonlyMap<string, PendingEvent>): Promise<void> {
    try {
      await this.deps.store.append([...events.values()]);
      this.deps.onStored();
    } catch (error) {
      this.keep(events, error);
    }
  }

  /** A store that can't be written, because the disk is full for example, must not fail what has caused the events. */
  private keep(events: ReadonlyMap<string, PendingEvent>, error: unknown): void {
    const { log, clock } = this.deps;
    log.warn({ reason: messageOf(error), events: events.size }, 'the events for webhooks could not be stored');
    this.pending = new Map([...events, ...this.pending]);
    dropOldest(this.pending);
    this.cancelFlush?.();
    this.cancelFlush = this.isClosed ? undefined : clock.after(STORE_RETRY_MS, () => this.flush());
  }
}

/** The type and the data of an event, without its time. */
const textOf = ({ type, body }: PendingEvent): string => `${type} ${body.slice(body.indexOf(',"data":'))}`;

function dropOldest(entries: Map<string, unknown>): void {
  for (const key of entries.keys()) {
    if (entries.size <= MAX_PENDING) break;
    entries.delete(key);
  }
}

/** A view that had an instance before the first of two events must learn that it has left it with the second. */
function joined({ about: first }: PendingEvent, event: PendingEvent): PendingEvent {
  if (!event.about || !first) return event;
  const before = first.before ?? event.about.before;
  const seenBy = [...new Set([...first.seenBy, ...event.about.seenBy])];
  return { ...event, about: { ...event.about, seenBy, ...(before && { before }) } };
}
