import {
  formatRef,
  runConcurrently,
  type Container,
  type DomainError,
  type InventoryListener,
  type Log,
  messageOf,
} from '@headgate/domain-contracts';
import { EventStream } from '../api/event-stream.js';
import type { IncusApi } from '../api/incus-api.js';
import type { EventObject, InstanceObject } from '../api/incus-objects.js';
import type { InstancePath } from '../api/when-idle.js';
import type { InstanceFinder } from '../engine/instance-finder.js';
import { readHost } from './read-host.js';
import { toContainer, type Host } from './to-container.js';
import { touchedInstances } from './touched-instances.js';

export interface LiveInstancesDeps {
  readonly context: string;
  readonly api: IncusApi;
  readonly finder: InstanceFinder;
  readonly log: Log;
  /** Receives every event, also of other objects than instances. */
  readonly onEvent?: (event: EventObject) => void;
  /** Receives the list of each connection, before those who watch. Never fails. */
  readonly onListed?: (instances: readonly InstanceObject[]) => Promise<void>;
}

/** More changes than this at the same time are read as one list. */
const MAX_SINGLE_READS = 24;
const CONCURRENT_READS = 6;
/** A read that failed for a reason that passes is repeated after this time. */
const REREAD_MS = 500;

const keyOf = ({ project, name }: InstancePath): string => `${project}/${name}`;

/** The containers of a server: listed once per connection, then read again one by one when an event names them. */
export class LiveInstances {
  private readonly listeners = new Set<InventoryListener>();
  private readonly known = new Map<string, Container>();
  /** Read as soon as the list is complete, or the read under way has ended. */
  private readonly pending = new Map<string, InstancePath>();
  private isRelistDue = false;
  private host: Host | undefined;
  private stream: EventStream | undefined;
  private reading: Promise<void> | undefined;
  /** Counts connections and losses: lists and reads of before are older than the next list, and are not kept. */
  private epoch = 0;
  private isListed = false;
  private loss: DomainError | undefined;
  private cancelReread: () => void = () => undefined;

  constructor(private readonly deps: LiveInstancesDeps) {}

  /** @returns removes the listener */
  add(listener: InventoryListener): () => Promise<void> {
    this.listeners.add(listener);
    if (this.isListed) listener.listed([...this.known.values()]);
    else if (this.loss) listener.lost(this.loss);
    this.stream ??= this.open();
    return async () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) await this.close();
    };
  }

  async close(): Promise<void> {
    const { stream } = this;
    this.stream = undefined;
    this.cancelReread();
    await stream?.stop();
    await this.reading;
    if (!this.stream) this.reset();
  }

  private open(): EventStream {
    const { api, finder } = this.deps;
    const stream: EventStream = new EventStream(
      { api, clock: api.clock, scope: finder.scope },
      {
        connected: async (signal) => {
          this.reset();
          await this.list(signal);
          if (this.stream === stream) this.flush();
        },
        event: (event) => this.onEvent(event),
        lost: (error) => this.onLost(error),
      },
    );
    return stream.start();
  }

  private reset(): void {
    this.epoch++;
    this.isListed = false;
    this.loss = undefined;
    this.isRelistDue = false;
    this.pending.clear();
  }

  private async list(signal?: AbortSignal): Promise<void> {
    const { api, finder } = this.deps;
    const { epoch, isListed: isRepeated } = this;
    const [instances, host] = await Promise.all([finder.all(signal), readHost(api, signal)]);
    // The server was lost meanwhile, and is listed again once it is back.
    if (signal?.aborted || epoch !== this.epoch) return;
    this.host = host;
    const before = new Map(this.known);
    this.known.clear();
    for (const instance of instances) this.keep(instance);
    if (isRepeated && isSame(before, this.known)) return;
    if (!isRepeated) void this.deps.onListed?.(instances);
    this.isListed = true;
    this.loss = undefined;
    for (const listener of this.listeners) listener.listed([...this.known.values()]);
  }

  private onEvent(event: EventObject): void {
    this.deps.onEvent?.(event);
    const touched = touchedInstances(event);
    if (touched === 'all') this.isRelistDue = true;
    else for (const path of touched) this.pending.set(keyOf(path), path);
    this.flush();
  }

  private onLost(error: DomainError): void {
    this.epoch++;
    this.isListed = false;
    this.loss = error;
    this.pending.clear();
    for (const listener of this.listeners) listener.lost(error);
  }

  /** Reads what events have named, one round at a time: an instance that changes during its read is read again. */
  private flush(): void {
    if (!this.isListed || this.reading || (this.pending.size === 0 && !this.isRelistDue)) return;
    this.reading = this.readPending().finally(() => {
      this.reading = undefined;
      if (this.stream) this.flush();
    });
  }

  private async readPending(): Promise<void> {
    const paths = [...this.pending.values()];
    this.pending.clear();
    if (this.isRelistDue || paths.length > MAX_SINGLE_READS) {
      this.isRelistDue = false;
      await this.list().catch((error: unknown) => this.readAgain(error, () => (this.isRelistDue = true)));
      return;
    }
    await runConcurrently(paths, CONCURRENT_READS, (path) =>
      this.read(path).catch((error: unknown) => this.readAgain(error, () => this.pending.set(keyOf(path), path))),
    );
  }

  /** A lost server is listed again in any case. */
  private readAgain(error: unknown, mark: () => void): void {
    if (!this.stream || !this.isListed) return;
    this.deps.log.warn({ error: messageOf(error) }, 'Reading changed instances failed; it is repeated');
    this.cancelReread();
    this.cancelReread = this.deps.api.clock.after(REREAD_MS, () => {
      mark();
      this.flush();
    });
  }

  private async read(path: InstancePath): Promise<void> {
    const { epoch } = this;
    const instance = await this.deps.finder.read(path);
    // A list that began meanwhile is newer.
    if (epoch !== this.epoch) return;
    const key = keyOf(path);
    const before = this.known.get(key);
    this.known.delete(key);
    const after = instance && this.keep(instance);
    if (before && (!after || formatRef(after.ref) !== formatRef(before.ref))) {
      for (const listener of this.listeners) listener.removed(before.ref);
    }
    if (!after || JSON.stringify(after) === JSON.stringify(before)) return;
    for (const listener of this.listeners) listener.changed(after);
  }

  private keep(instance: InstanceObject): Container | undefined {
    if (instance.type !== 'container' || !this.host) return undefined;
    const container = toContainer(this.deps.context, instance, this.host);
    this.known.set(keyOf(instance), container);
    return container;
  }
}

const isSame = (one: ReadonlyMap<string, Container>, other: ReadonlyMap<string, Container>): boolean =>
  JSON.stringify([...one]) === JSON.stringify([...other]);
