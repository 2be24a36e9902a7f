import { isSameInstance, type Clock, type InventoryListener, type VirtualMachine } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { DomainReader, DomainSnapshot } from '../domains/domain-reader.js';
import type { StopRequests } from '../domains/stop-requests.js';
import type { DomainEvent } from '../connection/domain-events.js';
import type { GuestAddresses } from './guest-addresses.js';
import { toVirtualMachine } from './to-virtual-machine.js';

export interface LiveDomainsDeps {
  readonly finder: DomainFinder;
  readonly reader: DomainReader;
  readonly stops: StopRequests;
  readonly addresses: GuestAddresses;
  readonly clock: Clock;
  readonly listener: InventoryListener;
  /** Whether there is another host to which a running guest can be migrated. */
  readonly canMigrate: () => boolean;
  /** Called with each domain of the first list. */
  readonly onDiscovered: (domain: DomainDescription) => void;
  /** Called with each domain whenever it is read, and with its UUID when it is gone. */
  readonly observer: DomainObserver;
  /** Called when a read fails, which makes the connection unusable. */
  readonly onFailure: (error: unknown) => void;
}

export interface DomainObserver {
  observe(domain: DomainDescription, isActive: boolean): void;
  forget(uuid: string): void;
}

interface Known {
  readonly snapshot: DomainSnapshot;
  readonly shown: VirtualMachine;
}

/** The domains of one connection, kept up to date by reading a domain again after each of its events. */
export class LiveDomains {
  private readonly known = new Map<string, Known>();
  private readonly dirty = new Set<string>();
  /** When guests were started, in ISO 8601, by the domains' names. Only starts that were observed. */
  private readonly starts = new Map<string, string>();
  private isEverythingDirty = false;
  private isReading = false;
  private isClosed = false;

  constructor(
    private readonly deps: LiveDomainsDeps,
    private readonly host: string,
  ) {}

  /** Reads all domains and reports them as a list. Events that arrive meanwhile are handled afterwards. */
  async load(): Promise<void> {
    this.isReading = true;
    try {
      const snapshots = await this.deps.reader.read(await this.deps.finder.all());
      if (this.isClosed) return;
      for (const snapshot of snapshots) this.keep(snapshot);
      for (const { description } of snapshots) this.deps.onDiscovered(description);
      this.deps.listener.listed([...this.known.values()].map(({ shown }) => shown));
    } finally {
      this.isReading = false;
    }
    this.readDirty();
  }

  handle({ domain, isStart, detail }: DomainEvent): void {
    if (isStart) {
      this.forgetEarlierRun(domain);
      // A guest that comes from a file, a snapshot or another host was started earlier.
      if (detail === 'Booted') this.starts.set(domain, new Date(this.deps.clock.now()).toISOString());
      else this.starts.delete(domain);
    }
    this.dirty.add(domain);
    this.readDirty();
  }

  /** Reads a domain again and reports differences. */
  reread(domain: string): void {
    this.dirty.add(domain);
    this.readDirty();
  }

  /** Reads all domains again and reports differences. */
  reconcile(): void {
    this.isEverythingDirty = true;
    this.readDirty();
  }

  /** Reports a domain from its last snapshot, for changes that libvirt does not emit. */
  refresh(uuid: string): void {
    const known = this.known.get(uuid);
    if (known && !this.isClosed) this.publish(known.snapshot);
  }

  close(): void {
    this.isClosed = true;
  }

  private readDirty(): void {
    if (this.isReading || this.isClosed || (this.dirty.size === 0 && !this.isEverythingDirty)) return;
    this.isReading = true;
    void this.readOnce().then(
      () => {
        this.isReading = false;
        this.readDirty();
      },
      (error: unknown) => {
        if (!this.isClosed) this.deps.onFailure(error);
      },
    );
  }

  /** Domains that become dirty during a read are left to the next one, so that a burst of events costs two reads. */
  private async readOnce(): Promise<void> {
    const names = new Set(this.dirty);
    const everything = this.isEverythingDirty;
    this.dirty.clear();
    this.isEverythingDirty = false;

    const all = await this.deps.finder.all();
    const snapshots = await this.deps.reader.read(everything ? all : all.filter(({ name }) => names.has(name)));
    if (this.isClosed) return;

    const present = new Set(all.map(({ uuid }) => uuid));
    for (const uuid of [...this.known.keys()]) if (!present.has(uuid)) this.drop(uuid);
    for (const snapshot of snapshots) this.publish(snapshot);
  }

  private publish(snapshot: DomainSnapshot): void {
    const before = this.known.get(snapshot.description.uuid);
    const after = this.keep(snapshot);
    const renamed = before && before.shown.ref.name !== after.shown.ref.name;
    if (renamed) this.deps.listener.removed(before.shown.ref);
    if (!before || renamed || !isSameInstance(before.shown, after.shown)) this.deps.listener.changed(after.shown);
  }

  private keep(snapshot: DomainSnapshot): Known {
    const { stops, addresses, finder, observer } = this.deps;
    const { description, state } = snapshot;
    const { uuid } = description;
    if (!state.isActive) stops.end(uuid);
    addresses.observe(description, state.isActive);
    observer.observe(description, state.isActive);
    const shown = toVirtualMachine(snapshot, {
      ref: finder.refOf(description),
      host: this.host,
      canMigrate: this.deps.canMigrate(),
      ip: addresses.of(uuid),
      startedAt: this.starts.get(description.name),
      stopping: stops.of(uuid),
    });
    const known = { snapshot, shown };
    this.known.set(uuid, known);
    return known;
  }

  private drop(uuid: string): void {
    const known = this.known.get(uuid);
    this.known.delete(uuid);
    this.deps.addresses.forget(uuid);
    this.deps.observer.forget(uuid);
    this.deps.stops.end(uuid);
    this.deps.reader.forget(uuid);
    if (!known) return;
    this.starts.delete(known.snapshot.description.name);
    this.deps.listener.removed(known.shown.ref);
  }

  private forgetEarlierRun(domain: string): void {
    for (const { snapshot } of this.known.values()) {
      if (snapshot.description.name !== domain) continue;
      this.deps.addresses.forget(snapshot.description.uuid);
      this.deps.stops.end(snapshot.description.uuid);
    }
  }
}
