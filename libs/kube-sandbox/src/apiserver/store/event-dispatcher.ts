import type { StoreEvent, StoreListener, SubscribeOptions } from './store-event.js';

type AtRest = NonNullable<SubscribeOptions['atRest']>;

interface Delivery {
  readonly event: StoreEvent;
  /** The listeners that receive it; undefined for a change, which all of them receive. */
  readonly listeners?: AtRest;
}

/**
 * Delivers changes to each listener in the order of revisions. A listener may write; its change is delivered after all
 * listeners have received the current one.
 */
export class EventDispatcher {
  private readonly everywhere = new Map<StoreListener, AtRest>();
  private readonly byResource = new Map<string, Map<StoreListener, AtRest>>();
  private readonly queue: Delivery[] = [];
  private dispatching = false;

  /** The function must not be subscribed twice to the same resource. */
  subscribe(resource: string, listener: StoreListener, { atRest = 'at-load' }: SubscribeOptions = {}): () => void {
    const listeners = resource === '*' ? this.everywhere : this.listenersOf(resource);
    listeners.set(listener, atRest);
    return () => listeners.delete(listener);
  }

  /** Whether any listener of a resource receives objects at rest at that time. */
  hasListeners(resource: string, atRest: AtRest): boolean {
    const listeners = [...this.listenersOf(resource).values(), ...this.everywhere.values()];
    return listeners.includes(atRest);
  }

  /**
   * Delivers changes; those of objects at rest only to some of the listeners.
   * @throws the error of a listener, after all listeners have received all changes
   */
  dispatch(events: readonly StoreEvent[], listeners?: AtRest): void {
    for (const event of events) this.queue.push({ event, listeners });
    if (this.dispatching) return;
    this.dispatching = true;
    const errors: unknown[] = [];
    try {
      // By index because shift() is slow: load() can queue 30,000 changes at the same time.
      for (let index = 0; index < this.queue.length; index++) this.emit(this.queue[index]!, errors);
    } finally {
      this.queue.length = 0;
      this.dispatching = false;
    }
    if (errors.length > 0) throw errors[0];
  }

  private emit({ event, listeners: wanted }: Delivery, errors: unknown[]): void {
    for (const listeners of [this.listenersOf(event.resource), this.everywhere]) {
      for (const [listener, atRest] of [...listeners]) {
        if (wanted !== undefined && wanted !== atRest) continue;
        try {
          listener(event);
        } catch (error) {
          errors.push(error);
        }
      }
    }
  }

  private listenersOf(resource: string): Map<StoreListener, AtRest> {
    let listeners = this.byResource.get(resource);
    if (!listeners) this.byResource.set(resource, (listeners = new Map()));
    return listeners;
  }
}
