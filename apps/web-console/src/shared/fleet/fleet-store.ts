import { SortedEntries, type FleetEntry } from './sorted-entries.js';

/**
 * How the list reaches this page. `live`: pushed by the service. `polling`: asked for again and again, since the stream
 * is refused. `lost`: nothing answers, what is shown is what was known.
 */
export type FleetPhase = 'loading' | 'live' | 'polling' | 'lost';

export interface ContextStatus {
  readonly up: boolean;
  readonly reason?: string;
}

export interface FleetState<E extends FleetEntry> {
  readonly phase: FleetPhase;
  /** By name, namespace and context. The same array as long as no entry changed. */
  readonly entries: readonly E[];
  /** By context; only those the stream spoke of. */
  readonly contexts: Readonly<Record<string, ContextStatus>>;
  /** Some context's entries are the last known ones. */
  readonly partial: boolean;
  /** Why nothing arrives, in the service's words. */
  readonly error?: string | undefined;
  /** When the service was heard last, in epoch milliseconds; undefined while it is heard. */
  readonly heardAt?: number | undefined;
}

/** Changes arrive in bursts; readers are told once per burst. */
const BURST_MS = 80;

/** A list of instances as this page knows it. Readers get the same state object until something changed. */
export class FleetStore<E extends FleetEntry> {
  private readonly known = new SortedEntries<E>();
  private readonly listeners = new Set<() => void>();
  private state: FleetState<E> = { phase: 'loading', entries: [], contexts: {}, partial: false };
  private pending: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): FleetState<E> => this.state;

  replace(entries: readonly E[], phase: FleetPhase): void {
    this.known.reset(entries);
    this.publishEntries({ phase, error: undefined, heardAt: undefined });
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

  /** It is heard, as `live` or by `polling`. */
  heard(phase: 'live' | 'polling'): void {
    this.publish({ phase, error: undefined, heardAt: undefined });
  }

  lost(error: string, now: number): void {
    this.publish({ phase: 'lost', error, heardAt: this.state.heardAt ?? now });
  }

  private publishSoon(): void {
    this.pending ??= setTimeout(() => this.publishEntries({}), BURST_MS);
  }

  private publishEntries(change: Partial<FleetState<E>>): void {
    clearTimeout(this.pending);
    this.pending = undefined;
    const entries = this.known.list();
    this.publish({ ...change, entries, partial: entries.some(({ stale }) => stale === true) });
  }

  private publish(change: Partial<FleetState<E>>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }
}
