import type { StoreEvent } from './store-event.js';

/** The latest changes of one resource, oldest first, at most about `limit`. */
export class WatchHistory {
  private events: StoreEvent[] = [];
  /** The revision up to which changes have been discarded. */
  private forgotten = 0;

  constructor(private readonly limit: number) {}

  add(event: StoreEvent): void {
    this.events.push(event);
    // In slices, so that the amortized cost of a change is constant.
    if (this.events.length > this.limit * 1.25) this.forgetFirst(this.events.length - this.limit);
  }

  /** Discards the changes up to a revision. */
  compact(revision: number): void {
    this.forgetFirst(this.indexAfter(revision));
    this.forgotten = Math.max(this.forgotten, revision);
  }

  /** The changes after a revision; undefined when some of them have been discarded. */
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
