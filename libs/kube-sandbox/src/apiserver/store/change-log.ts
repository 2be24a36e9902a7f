import { expired } from '../api-error.js';
import type { StoreEvent } from './store-event.js';
import { WatchHistory } from './watch-history.js';

/** Counts the revisions of the store and keeps the latest changes of each resource. */
export class ChangeLog {
  private readonly histories = new Map<string, WatchHistory>();
  private current = 1;
  private compacted = 0;

  /** `limit`: changes kept per resource. */
  constructor(private readonly limit: number) {}

  /** The revision of the last change. */
  get revision(): number {
    return this.current;
  }

  /** The revision of the next change. */
  next(): number {
    return ++this.current;
  }

  add(event: StoreEvent): void {
    this.history(event.resource).add(event);
  }

  /**
   * The changes of a resource after a revision, oldest first.
   * @throws ApiError 410 when some of them have been compacted
   */
  since(resource: string, revision: number): StoreEvent[] {
    const events = revision < this.compacted ? undefined : this.history(resource).since(revision);
    if (!events) throw expired(`too old resource version: ${revision} (${this.current})`);
    return events;
  }

  /** Discards the changes up to a revision. */
  compact(revision: number): void {
    this.compacted = Math.max(this.compacted, revision);
    for (const history of this.histories.values()) history.compact(revision);
  }

  /** Discards the changes of one resource so far. */
  compactResource(resource: string): void {
    this.history(resource).compact(this.current);
  }

  private history(resource: string): WatchHistory {
    let history = this.histories.get(resource);
    if (!history) this.histories.set(resource, (history = new WatchHistory(this.limit)));
    return history;
  }
}
