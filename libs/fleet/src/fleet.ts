import {
  DomainError,
  formatRef,
  InstanceDirectory,
  type Backend,
  type Clock,
  type Instance,
  type InstanceKind,
  type InstanceQuery,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { ContextWatch } from './context-watch.js';
import type { ContextState, FleetEntry, FleetEvent, FleetListener } from './fleet-entry.js';
import { sortKey } from './sort-key.js';
import { SortedPages } from './sorted-pages.js';

/** The serialised list of one kind. */
export interface FleetList {
  /** A JSON array; must not be written to. */
  readonly json: Buffer;
  /** Changes whenever the bytes do. */
  readonly version: number;
  /** Whether a context is lost, so that some entries may be stale or missing. */
  readonly partial: boolean;
}

export interface FleetOptions {
  readonly clock: Clock;
  /** What an entry looks like in the serialised list. */
  readonly present: (entry: FleetEntry) => unknown;
}

/** How long a write waits for the watch to show it, in milliseconds. */
const WAIT_TIMEOUT_MS = 3000;

/**
 * Every backend's instances in memory, fed by watches. All reads of the service come here; none of them asks a
 * backend. One change costs the same whatever the fleet's size.
 */
export class Fleet extends InstanceDirectory {
  private readonly contexts = new Map<string, ContextWatch>();
  private readonly entries = new Map<string, FleetEntry>();
  /** `kind/namespace/name` → refs as text: a name is looked up over all contexts. */
  private readonly byName = new Map<string, Set<string>>();
  private readonly lists: Record<InstanceKind, SortedPages<FleetEntry>>;
  private readonly versions: Record<InstanceKind, number> = { vm: 0, ct: 0 };
  private readonly listeners = new Set<FleetListener>();

  constructor(private readonly options: FleetOptions) {
    super();
    this.lists = { vm: new SortedPages(options.present), ct: new SortedPages(options.present) };
  }

  /** Begins to follow a backend. */
  attach(backend: Backend): void {
    if (this.contexts.has(backend.context)) throw new Error(`the context ${backend.context} is attached already`);
    const watch = new ContextWatch(backend, {
      upsert: (instance) => this.put({ instance, stale: false }),
      remove: (instance) => this.drop(instance),
      state: (state) => this.become(state),
    });
    this.contexts.set(backend.context, watch);
  }

  /** Ends all watches. */
  async close(): Promise<void> {
    await Promise.all([...this.contexts.values()].map((watch) => watch.stop()));
    this.listeners.clear();
  }

  states(): ContextState[] {
    return [...this.contexts.values()].map(({ state }) => state);
  }

  /** Resolves when every context was either listed or found to be lost. */
  async whenSynced(): Promise<void> {
    const connecting = (): boolean => this.states().some(({ state }) => state === 'connecting');
    if (!connecting()) return;
    await new Promise<void>((resolve) => {
      const unsubscribe = this.subscribe(() => {
        if (connecting()) return;
        unsubscribe();
        resolve();
      });
    });
  }

  /** @throws DomainError BACKEND_UNREACHABLE when no context at all can be reached */
  list(kind: InstanceKind): FleetList {
    this.expectSomeContext();
    return {
      json: this.lists[kind].json(),
      version: this.versions[kind],
      partial: this.states().some(({ state }) => state !== 'up'),
    };
  }

  /** All entries of a kind in the list's order. */
  all(kind: InstanceKind): Iterable<FleetEntry> {
    return this.lists[kind].values();
  }

  count(kind: InstanceKind): number {
    return this.lists[kind].size;
  }

  /** Calls back on each change until the answer is called. */
  subscribe(listener: FleetListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  override get(ref: InstanceRef): Instance | undefined {
    return this.entries.get(formatRef(ref))?.instance;
  }

  override resolve({ kind, namespace, name, context }: InstanceQuery): Instance {
    const refs = [...(this.byName.get(nameKey(kind, namespace, name)) ?? [])].sort();
    const found = refs
      .flatMap((ref) => this.entries.get(ref)?.instance ?? [])
      .filter(({ ref }) => context === undefined || ref.context === context);
    const [only] = found;
    if (only && found.length === 1) return only;
    if (found.length > 1) {
      throw new DomainError(
        'AMBIGUOUS_INSTANCE',
        `${namespace}/${name} is there in several contexts; add ?context= with one of them.`,
        { details: { candidates: found.map(({ ref }) => formatRef(ref)) } },
      );
    }
    this.expectSomeContext();
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no ${KIND_WORDS[kind]} ${namespace}/${name}.`);
  }

  override waitFor(
    ref: InstanceRef,
    isMet: (instance: Instance | undefined) => boolean,
    timeoutMs = WAIT_TIMEOUT_MS,
  ): Promise<void> {
    if (isMet(this.get(ref))) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        unsubscribe();
        resolve();
      };
      const cancel = this.options.clock.after(timeoutMs, end);
      const unsubscribe = this.subscribe(() => {
        if (isMet(this.get(ref))) end();
      });
    });
  }

  private put(entry: FleetEntry): void {
    const { ref } = entry.instance;
    const key = formatRef(ref);
    const named = nameKey(ref.kind, ref.namespace, ref.name);
    this.entries.set(key, entry);
    this.byName.set(named, (this.byName.get(named) ?? new Set()).add(key));
    this.lists[ref.kind].set(sortKey(ref), entry);
    this.versions[ref.kind]++;
    this.tell({ type: 'changed', entry });
  }

  private drop(instance: Instance): void {
    const { ref } = instance;
    const key = formatRef(ref);
    const named = nameKey(ref.kind, ref.namespace, ref.name);
    this.entries.delete(key);
    this.byName.get(named)?.delete(key);
    if (this.byName.get(named)?.size === 0) this.byName.delete(named);
    this.lists[ref.kind].delete(sortKey(ref));
    this.versions[ref.kind]++;
    this.tell({ type: 'removed', instance });
  }

  /** A context went or came back: its entries become stale, or live again. */
  private become(state: ContextState): void {
    const stale = state.state === 'lost';
    for (const instance of this.contexts.get(state.context)?.instances() ?? []) {
      if (this.entries.get(formatRef(instance.ref))?.stale !== stale) this.put({ instance, stale });
    }
    this.tell({ type: 'status', state });
  }

  private tell(event: FleetEvent): void {
    for (const listener of this.listeners) listener(event);
  }

  private expectSomeContext(): void {
    const states = this.states();
    if (states.length === 0 || states.some(({ state }) => state !== 'lost')) return;
    throw new DomainError(
      'BACKEND_UNREACHABLE',
      states.map(({ context, reason }) => `${context}: ${reason}`).join(' '),
    );
  }
}

const KIND_WORDS: Record<InstanceKind, string> = { vm: 'VM', ct: 'container' };

const nameKey = (kind: InstanceKind, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;
