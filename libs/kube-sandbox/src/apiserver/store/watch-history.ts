import type { StoreEvent } from './store-event.js';

/** The last changes of one resource, oldest first, at most about `limit` of them. */
export class WatchHistory {
  private events: StoreEvent[] = [];
  /** Revision up to which changes have been forgotten. */
  private forgotten = 0;

  constructor(private readonly limit: number) {}

  add(event: StoreEvent): void {
    this.events.push(event);
    // Cut in slices, so that the cost of one change stays constant on average.
    if (this.events.length > this.limit * 1.25) this.forgetFirst(this.events.length - this.limit);
  }

  /** Forgets what happened at or before a revision. */
  compact(revision: number): void {
    this.forgetFirst(this.indexAfter(revision));
    this.forgotten = Math.max(this.forgotten, revision);
  }

  /** Changes after a revision, or undefined when some of them are forgotten. */
  since(revision: number): StoreEvent[] | undefined {
    return revision < this.forgotten ? undefined : this.events.slice(this.indexAfter(revision));
  }

  private forgetFirst(count: number): void {
    const last = this.events[count - 1];
    if (!last) return;
    this.forgotten = Math.max(this.forgotten, last.revision);
    this.events = this.events.slice(count);
  }

  private indexAfter(revision: number): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
