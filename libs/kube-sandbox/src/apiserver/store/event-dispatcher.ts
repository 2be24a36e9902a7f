import type { StoreEvent, StoreListener } from './store-event.js';

/**
 * Delivers changes to each listener in the order of revisions. A listener may write; its change is delivered after all
 * listeners have received the current one.
 */
export class EventDispatcher {
  private readonly everywhere = new Set<StoreListener>();
  private readonly byResource = new Map<string, Set<StoreListener>>();
  private readonly queue: StoreEvent[] = [];
  private dispatching = false;

  subscribe(resource: string, listener: StoreListener): () => void {
    const listeners = resource === '*' ? this.everywhere : this.listenersOf(resource);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** @throws the error of a listener, after all listeners have received all changes */
  dispatch(events: StoreEvent[]): void {
    for (const event of events) this.queue.push(event);
    if (this.dispatching) return;
    this.dispatching = true;
    const errors: unknown[] = [];
    try {
      // By index because shift() is slow: load() can queue 30,000 changes at once.
      for (let index = 0; index < this.queue.length; index++) this.emit(this.queue[index]!, errors);
    } finally {
      this.queue.length = 0;
      this.dispatching = false;
    }
    if (errors.length > 0) throw errors[0];
  }

  private emit(event: StoreEvent, errors: unknown[]): void {
    for (const listeners of [this.listenersOf(event.resource), this.everywhere]) {
      for (const listener of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          errors.push(error);
        }
      }
    }
  }

  private listenersOf(resource: string): Set<StoreListener> {
    let listeners = this.byResource.get(resource);
    if (!listeners) this.byResource.set(resource, (listeners = new Set()));
    return listeners;
  }
}
