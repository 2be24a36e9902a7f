import { SortedEntries, type FleetEntry } from './sorted-entries.js';

/**
 * How the list reaches this page. `live`: pushed by the service. `polling`: fetched repeatedly, because the stream
 * fails. `lost`: the service does not respond; the entries are the last known ones.
 */
export type FleetPhase = 'loading' | 'live' | 'polling' | 'lost';

export interface ContextStatus {
  readonly up: boolean;
  readonly reason?: string;
}

export interface FleetState<E extends FleetEntry> {
  readonly phase: FleetPhase;
  /** Sorted by name, namespace, and context. The same array until an entry changes. */
  readonly entries: readonly E[];
  /** The first rows of the list by name, which a page shows while the entries are still loading. */
  readonly firstRows: readonly E[];
  /** By context. Only contexts that the stream has reported on. */
  readonly contexts: Readonly<Record<string, ContextStatus>>;
  /** Whether some entries are only the last known ones. */
  readonly partial: boolean;
  /** Why nothing arrives, in the service's own words. */
  readonly error?: string | undefined;
  /** When the connection was lost, in epoch milliseconds; undefined while it works. */
  readonly lostSince?: number | undefined;
}

/** A lone change is published immediately. Changes that follow it within this time are published together. */
const BURST_MS = 80;

/** The list of instances on this page. Readers get the same state object until something changes. */
export class FleetStore<E extends FleetEntry> {
  private readonly known = new SortedEntries<E>();
  private readonly listeners = new Set<() => void>();
  private state: FleetState<E> = { phase: 'loading', entries: [], firstRows: [], contexts: {}, partial: false };
  private burst: ReturnType<typeof setTimeout> | undefined;
  private isUnpublished = false;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): FleetState<E> => this.state;

  replace(entries: readonly E[], phase: FleetPhase): void {
    this.known.reset(entries);
    this.publishEntries({ phase, error: undefined, lostSince: undefined });
  }

  /** Shows these rows until the entries have been loaded. */
  preview(firstRows: readonly E[]): void {
    if (this.state.phase === 'loading') this.publish({ firstRows });
  }

  /** Takes over the state of another tab. */
  restore({ entries, phase, contexts, error, lostSince }: FleetState<E>): void {
    this.known.reset(entries);
    this.publishEntries({ phase, contexts, error, lostSince });
  }

  change(entry: E): void {
    this.known.put(entry);
    this.publishSoon();
  }

  remove(ref: string): void {
    this.known.remove(ref);
    this.publishSoon();
  }

  contextStatus(context: string, status: ContextStatus): void {
    this.publish({ contexts: { ...this.state.contexts, [context]: status } });
  }

  /** Confirms that the current entries are up to date. */
  confirm(phase: 'live' | 'polling'): void {
    this.publish({ phase, error: undefined, lostSince: undefined });
  }

  lost(error: string, now: number): void {
    this.publish({ phase: 'lost', error, lostSince: this.state.lostSince ?? now });
  }

  private publishSoon(): void {
    this.isUnpublished = true;
    if (this.burst !== undefined) return;
    this.publishEntries({});
    this.awaitBurst();
  }

  private awaitBurst(): void {
    this.burst = setTimeout(() => {
      this.burst = undefined;
      if (!this.isUnpublished) return;
      this.publishEntries({});
      this.awaitBurst();
    }, BURST_MS);
  }

  private publishEntries(change: Partial<FleetState<E>>): void {
    this.isUnpublished = false;
    const entries = this.known.list();
    this.publish({ ...change, entries, partial: entries.some(({ stale }) => stale === true) });
  }

  private publish(change: Partial<FleetState<E>>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }
}
