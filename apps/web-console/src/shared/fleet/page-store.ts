import type {
  CapabilitiesView,
  ContainerView,
  StreamEvents,
  StreamUsageView,
  TaskView,
  VmView,
} from '@headgate/api-contracts';
import type { InstanceCollection } from '../api/instance-path.js';
import { ACTIVITY_KEYS, CONTEXT_KEYS, STREAMED_KEYS, usageKey, type StreamQueries } from '../queries/stream-queries.js';
import { FleetStore, type FleetPhase, type FleetState } from './fleet-store.js';

export const COLLECTIONS: readonly InstanceCollection[] = ['vms', 'cts'];

/** As many tasks as the service lists. */
const MAX_TASKS = 100;

export type StreamEventName = keyof StreamEvents;
type Handlers = { readonly [E in StreamEventName]: (data: StreamEvents[E]) => void };

interface EntryOf {
  readonly vms: VmView;
  readonly cts: ContainerView;
}

/** Receives what the service sends to this browser. */
export interface PageSink {
  /** What it receives. */
  readonly events: readonly StreamEventName[];
  phase(): FleetPhase;
  /** Where a stream can continue so that nothing is missing. */
  position(): string | undefined;
  /** Records that everything up to this position of the stream has arrived. */
  mark(position: string): void;
  receive(name: StreamEventName, data: unknown): void;
  /** A whole list that was fetched, because the stream fails; undefined if it is the last one. */
  polled(collection: InstanceCollection, entries: readonly unknown[] | undefined): void;
  /** A list could not be fetched. @param now in epoch milliseconds */
  lost(collection: InstanceCollection, error: string, now: number): void;
}

/** What one tab passes to another. */
export interface PageState {
  readonly vms: FleetState<VmView>;
  readonly cts: FleetState<ContainerView>;
  readonly values: readonly (readonly [key: readonly string[], value: unknown])[];
  readonly position: string | undefined;
}

/** Everything on this page that the service keeps up to date: the lists, and answers in the cache of queries. */
export class PageStore implements PageSink {
  readonly lists: { readonly [C in InstanceCollection]: FleetStore<EntryOf[C]> } = {
    vms: new FleetStore<VmView>(),
    cts: new FleetStore<ContainerView>(),
  };
  private marked: string | undefined;
  private wasLost = false;
  private complete = false;

  private readonly handlers: Handlers = {
    'vms.snapshot': (entries) => this.lists.vms.replace(entries, 'live'),
    'vms.changed': (entry) => this.lists.vms.change(entry),
    'vms.removed': ({ ref }) => this.lists.vms.remove(ref),
    'cts.snapshot': (entries) => this.lists.cts.replace(entries, 'live'),
    'cts.changed': (entry) => this.lists.cts.change(entry),
    'cts.removed': ({ ref }) => this.lists.cts.remove(ref),
    'usage.snapshot': (usages) => this.setUsages(usages, () => true),
    'usage.changed': ({ context, usages }) => this.setUsages(usages, (ref) => contextOf(ref) === context),
    'tasks.snapshot': (tasks) => this.queries.set(STREAMED_KEYS.tasks, tasks),
    'tasks.changed': (task) => this.taskChanged(task),
    'tasks.removed': ({ id }) => this.setTasks((tasks) => tasks.filter((task) => task.id !== id)),
    'folders.snapshot': (folders) => this.queries.set(STREAMED_KEYS.folders, folders),
    'health.snapshot': (counts) => this.queries.set(STREAMED_KEYS.health, counts),
    'activity.snapshot': (activity) => {
      this.queries.set(STREAMED_KEYS.activity, activity);
      for (const key of ACTIVITY_KEYS) this.queries.invalidate(key);
    },
    'contexts.status': ({ context, up, reason }) => {
      const status = { up, ...(reason !== undefined && { reason }) };
      for (const name of COLLECTIONS) this.lists[name].contextStatus(context, status);
    },
    'contexts.snapshot': (capabilities) => this.setCapabilities(capabilities),
    ready: () => this.becameLive(),
    resumed: () => this.becameLive(),
    beat: () => undefined,
  };
  readonly events = Object.keys(this.handlers) as StreamEventName[];

  constructor(private readonly queries: StreamQueries) {}

  readonly phase = (): FleetPhase => this.lists.vms.current().phase;
  readonly position = (): string | undefined => this.marked;

  /** Whether nothing of the first state is missing, except what the service has to read first. */
  isComplete(): boolean {
    return this.complete;
  }

  mark(position: string): void {
    this.marked = position;
  }

  receive<E extends StreamEventName>(name: E, data: StreamEvents[E]): void {
    (this.handlers[name] as (data: StreamEvents[E]) => void)(data);
  }

  polled<C extends InstanceCollection>(collection: C, entries: readonly EntryOf[C][] | undefined): void {
    this.complete = true;
    this.queries.setLive(false);
    if (entries) this.lists[collection].replace(entries, 'polling');
    else this.lists[collection].confirm('polling');
  }

  lost(collection: InstanceCollection, error: string, now: number): void {
    this.complete = true;
    this.queries.setLive(false);
    if (collection === 'vms') this.wasLost = true;
    this.lists[collection].lost(error, now);
  }

  /** For another tab. */
  state(): PageState {
    const keys = [...Object.values(STREAMED_KEYS), ...COLLECTIONS.map(usageKey)];
    const values = keys.flatMap((key) => {
      const value = this.queries.get(key);
      return value === undefined ? [] : [[key, value] as const];
    });
    return { vms: this.lists.vms.current(), cts: this.lists.cts.current(), values, position: this.marked };
  }

  /** Takes over the state of another tab. */
  restore({ vms, cts, values, position }: PageState): void {
    for (const [key, value] of values) this.queries.set(key, value);
    this.lists.vms.restore(vms);
    this.lists.cts.restore(cts);
    this.marked = position ?? this.marked;
    this.complete = true;
    this.queries.setLive(vms.phase === 'live');
  }

  private becameLive(): void {
    for (const name of COLLECTIONS) this.lists[name].confirm('live');
    this.complete = true;
    this.queries.setLive(true);
    // The user may have other rights now, or be another one.
    if (this.wasLost) this.queries.invalidate(['whoami']);
    this.wasLost = false;
  }

  private setCapabilities(capabilities: CapabilitiesView): void {
    const before = this.queries.get<CapabilitiesView>(STREAMED_KEYS.capabilities);
    this.queries.set(STREAMED_KEYS.capabilities, capabilities);
    if (before === undefined || JSON.stringify(before) === JSON.stringify(capabilities)) return;
    for (const key of Object.values(CONTEXT_KEYS)) this.queries.invalidate(key);
  }

  /** @param isReplaced whether the usage of an instance is only known if it is among these */
  private setUsages(usages: readonly StreamUsageView[], isReplaced: (ref: string) => boolean): void {
    for (const name of COLLECTIONS) {
      const kept = (this.queries.get<readonly StreamUsageView[]>(usageKey(name)) ?? []).filter(
        ({ ref }) => !isReplaced(ref),
      );
      this.queries.set(usageKey(name), [...kept, ...usages.filter(({ ref }) => ref.startsWith(PREFIXES[name]))]);
    }
  }

  private taskChanged(task: TaskView): void {
    this.setTasks((tasks) =>
      tasks.some(({ id }) => id === task.id)
        ? tasks.map((one) => (one.id === task.id ? task : one))
        : [task, ...tasks].slice(0, MAX_TASKS),
    );
    // The stream does not report the members of a task.
    this.queries.invalidate([...STREAMED_KEYS.tasks, task.id]);
  }

  private setTasks(change: (tasks: readonly TaskView[]) => readonly TaskView[]): void {
    const tasks = this.queries.get<readonly TaskView[]>(STREAMED_KEYS.tasks);
    if (tasks) this.queries.set(STREAMED_KEYS.tasks, change(tasks));
  }
}

const PREFIXES: Readonly<Record<InstanceCollection, string>> = { vms: 'vm/', cts: 'ct/' };

/** The parts of a ref are encoded. */
const contextOf = (ref: string): string => decodeURIComponent(ref.split('/')[1] ?? '');
