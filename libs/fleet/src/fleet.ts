import {
  DomainError,
  formatRef,
  type Backend,
  type Clock,
  type Holder,
  type Instance,
  type InstanceIdentity,
  type InstanceKind,
  type InstanceQuery,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { ContextWatch, type ContextWatchListener } from './context-watch.js';
import type { ContextState, FleetEntry, FleetEvent, FleetListener } from './fleet-entry.js';
import { FleetReader, type FleetList } from './fleet-reader.js';
import { sortKey } from './sort-key.js';
import { SortedPages } from './sorted-pages.js';

export interface FleetOptions {
  readonly clock: Clock;
  /** Turns an entry into its JSON value in the serialized list. */
  readonly present: (entry: FleetEntry) => unknown;
  /** The folder of an instance. `refresh` makes a change of its answers visible. */
  readonly folderOf?: (instance: InstanceIdentity) => string | undefined;
  /**
   * The task that changes an instance or needs it unchanged, by its ref as text. `refresh` makes a change of its
   * answers visible.
   */
  readonly busyOf?: (ref: string) => Required<Holder> | undefined;
}

export interface Replacement {
  /** Whether the backend leads to another engine than the former one. */
  readonly isAnother: boolean;
  /** Closes the former backend, whose watch has stopped or hangs. The new one is not watched before. Does not fail. */
  readonly whenStopped: () => Promise<void>;
}

/** How long a write waits until the watch reports it, in milliseconds. */
const WAIT_TIMEOUT_MS = 3000;
/** How long the end of the watch of a replaced backend may take, which is closed then. */
const STOP_TIMEOUT_MS = 5000;

/**
 * The instances of every backend in memory, kept up to date by watches. All reads of the service are answered from
 * here. The cost of a change does not depend on the size of the fleet.
 */
export class Fleet extends FleetReader {
  private readonly contexts = new Map<string, ContextWatch>();
  private readonly entries = new Map<string, FleetEntry>();
  private readonly lists: Record<InstanceKind, SortedPages<FleetEntry>>;
  private readonly versions: Record<InstanceKind, number> = { vm: 0, ct: 0 };
  private readonly listeners = new Set<FleetListener>();
  private isClosed = false;

  constructor(private readonly options: FleetOptions) {
    super();
    this.lists = { vm: new SortedPages(options.present), ct: new SortedPages(options.present) };
  }

  /** Starts to watch a backend. */
  attach(backend: Backend): void {
    if (this.contexts.has(backend.context)) throw new Error(`the context ${backend.context} is already attached`);
    this.watch(backend);
  }

  /**
   * Watches another backend in place of the one of its context. The context counts as lost at once, so that no request
   * uses the last known instances with the new backend before it has listed its own. Until then, they are stale, or
   * they leave the fleet if the backend leads to another engine. Nothing is known of those that it does not list: they
   * leave like those of a detached context.
   * @returns when the new backend is watched
   */
  async replace(backend: Backend, { isAnother, whenStopped }: Replacement): Promise<void> {
    const { context } = backend;
    const former = this.contexts.get(context);
    if (!former) throw new Error(`the context ${context} is not attached`);
    const wasListed = former.state.state !== 'connecting';
    const stopped = former.suspend(`The settings of ${context} were changed; its instances are not listed again yet.`);
    if (isAnother) for (const instance of former.take()) this.drop(instance, true);
    await this.settle(stopped);
    await whenStopped();
    // It was detached meanwhile, or the service is about to stop.
    if (this.isClosed || this.contexts.get(context) !== former) return;
    const { state } = this.watch(backend, !isAnother && wasListed ? former : undefined);
    if (state.state === 'connecting') this.emit({ type: 'status', state });
  }

  /**
   * Stops to watch a backend, whose instances leave the fleet.
   * @returns when the watch has ended; the instances are gone at once
   */
  async detach(context: string): Promise<void> {
    const watch = this.contexts.get(context);
    if (!watch) return;
    this.contexts.delete(context);
    const stopped = watch.stop();
    for (const instance of watch.instances()) this.drop(instance, true);
    this.emit({ type: 'status', state: { context, kind: watch.state.kind, state: 'detached' } });
    await stopped;
  }

  /** Stops all watches. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.contexts.values()].map((watch) => watch.stop()));
    this.listeners.clear();
  }

  override states(): ContextState[] {
    return [...this.contexts.values()].map(({ state }) => state);
  }

  override async whenSynced(): Promise<void> {
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

  override list(kind: InstanceKind): FleetList {
    this.expectSomeContext();
    return {
      json: this.lists[kind].json(),
      pages: this.lists[kind].pages(),
      version: this.versions[kind],
      partial: this.states().some(({ state }) => state !== 'up'),
    };
  }

  override snapshot(kind: InstanceKind): readonly Buffer[] {
    return this.lists[kind].pages();
  }

  override all(kind: InstanceKind): Iterable<FleetEntry> {
    return this.lists[kind].values();
  }

  override count(kind: InstanceKind): number {
    return this.lists[kind].size;
  }

  override subscribe(listener: FleetListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  override get(ref: InstanceRef): Instance | undefined {
    return this.entries.get(formatRef(ref))?.instance;
  }

  override resolve({ kind, namespace, name, context, uid }: InstanceQuery): Instance {
    const contexts = context === undefined ? [...this.contexts.keys()].sort() : [context];
    const found = contexts.flatMap((one) => this.get({ kind, context: one, namespace, name }) ?? []);
    const [only] = found;
    if (only && found.length === 1) {
      if (uid === undefined || uid === only.uid) return only;
      const another = `${namespace}/${name} was replaced by another ${KIND_WORDS[kind]} of its name.`;
      throw new DomainError('INSTANCE_NOT_FOUND', another);
    }
    if (found.length > 1) {
      throw new DomainError(
        'AMBIGUOUS_INSTANCE',
        `${namespace}/${name} exists in several contexts; add ?context= with one of them.`,
        { details: { candidates: found.map(({ ref }) => formatRef(ref)) } },
      );
    }
    this.expectSomeContext();
    this.expectListed(context);
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

  /**
   * Reads the folders and the tasks of these instances again.
   * @param refs refs as text, also of instances that do not exist
   */
  refresh(refs: Iterable<string>): void {
    const { folderOf, busyOf } = this.options;
    for (const ref of refs) {
      const entry = this.entries.get(ref);
      if (!entry) continue;
      if (entry.folder !== folderOf?.({ ref, uid: entry.instance.uid }) || entry.busy?.task !== busyOf?.(ref)?.task)
        this.put(entry.instance, entry.stale);
    }
  }

  /** Waits until a watch has stopped. One that hangs or fails is given up: it passes nothing on any more. */
  private settle(stopped: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        resolve();
      };
      const cancel = this.options.clock.after(STOP_TIMEOUT_MS, end);
      stopped.then(end, end);
    });
  }

  private watch(backend: Backend, former?: ContextWatch): ContextWatch {
    const listener: ContextWatchListener = {
      upsert: (instance) => this.put(instance, false),
      remove: (instance, isUnknown) => this.drop(instance, isUnknown),
      state: (state, isReplaced) => this.setState(state, isReplaced),
    };
    const watch = new ContextWatch(backend, listener, former);
    this.contexts.set(backend.context, watch);
    return watch;
  }

  private put(instance: Instance, stale: boolean): void {
    const { ref, uid } = instance;
    const key = formatRef(ref);
    const folder = this.options.folderOf?.({ ref: key, uid });
    const busy = this.options.busyOf?.(key);
    const entry: FleetEntry = { instance, stale, ...(folder !== undefined && { folder }), ...(busy && { busy }) };
    this.entries.set(key, entry);
    this.lists[ref.kind].set(sortKey(ref), entry);
    this.versions[ref.kind]++;
    this.emit({ type: 'changed', entry });
  }

  private drop(instance: Instance, isDetached = false): void {
    const { ref } = instance;
    this.entries.delete(formatRef(ref));
    this.lists[ref.kind].delete(sortKey(ref));
    this.versions[ref.kind]++;
    this.emit({ type: 'removed', instance, ...(isDetached && { isDetached }) });
  }

  /** Marks the entries of a lost context as stale, and those of a context that is back as live. */
  private setState(state: ContextState, isReplaced?: true): void {
    const stale = state.state === 'lost';
    for (const instance of this.contexts.get(state.context)?.instances() ?? []) {
      if (this.entries.get(formatRef(instance.ref))?.stale !== stale) this.put(instance, stale);
    }
    this.emit({ type: 'status', state, ...(isReplaced && { isReplaced }) });
  }

  private emit(event: FleetEvent): void {
    for (const listener of this.listeners) listener(event);
  }

  /** An instance may exist in a context that was not listed yet. */
  private expectListed(context?: string): void {
    const pending = this.states().filter(
      (one) => one.state === 'connecting' && (context ?? one.context) === one.context,
    );
    if (pending.length === 0) return;
    const names = pending.map((one) => one.context).join(', ');
    throw new DomainError('NOT_READY', `The instances of ${names} are not listed yet; try again in a moment.`);
  }

  override expectSomeContext(): void {
    const states = this.states();
    if (states.length === 0 || states.some(({ state }) => state !== 'lost')) return;
    throw new DomainError(
      'BACKEND_UNREACHABLE',
      states.map(({ context, reason }) => `${context}: ${reason}`).join(' '),
    );
  }
}

const KIND_WORDS: Record<InstanceKind, string> = { vm: 'VM', ct: 'container' };
