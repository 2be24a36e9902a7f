import type { VmView } from '@headgate/api-contracts';

/**
 * How the list reaches this page. `live`: pushed by the service. `polling`: asked for again and again, since the stream
 * is refused. `lost`: nothing answers, what is shown is what was known.
 */
export type FleetPhase = 'loading' | 'live' | 'polling' | 'lost';

export interface ContextStatus {
  readonly up: boolean;
  readonly reason?: string;
}

export interface FleetState {
  readonly phase: FleetPhase;
  readonly entries: readonly VmView[];
  /** By context; only those the stream spoke of. */
  readonly contexts: Readonly<Record<string, ContextStatus>>;
  /** Some context's entries are the last known ones. */
  readonly partial: boolean;
  /** Why nothing arrives, in the service's words. */
  readonly error?: string;
}

/** Changes arrive in bursts; readers are told once per burst. */
const BURST_MS = 80;

/** The fleet as this page knows it. Readers get the same state object until something changed. */
export class FleetStore {
  private readonly byRef = new Map<string, VmView>();
  private readonly listeners = new Set<() => void>();
  private state: FleetState = { phase: 'loading', entries: [], contexts: {}, partial: false };
  private pending: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): FleetState => this.state;

  replace(entries: readonly VmView[], phase: FleetPhase): void {
    this.byRef.clear();
    for (const entry of entries) this.byRef.set(entry.ref, entry);
    this.publish({ phase, error: undefined });
  }

  change(entry: VmView): void {
    this.byRef.set(entry.ref, entry);
    this.publishSoon();
  }

  remove(ref: string): void {
    this.byRef.delete(ref);
    this.publishSoon();
  }

  contextStatus(context: string, status: ContextStatus): void {
    this.publish({ contexts: { ...this.state.contexts, [context]: status } });
  }

  phase(phase: FleetPhase, error?: string): void {
    this.publish({ phase, error });
  }

  private publishSoon(): void {
    this.pending ??= setTimeout(() => this.publish({}), BURST_MS);
  }

  private publish(change: { [K in keyof FleetState]?: FleetState[K] | undefined }): void {
    clearTimeout(this.pending);
    this.pending = undefined;
    const entries = [...this.byRef.values()];
    const partial = entries.some((entry) => entry.stale === true);
    const { error = undefined, ...rest } = { ...this.state, ...change, entries, partial };
    this.state = { ...rest, ...(error === undefined ? {} : { error }) } as FleetState;
    for (const listener of this.listeners) listener();
  }
}
