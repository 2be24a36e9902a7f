import { isSameInstance, type InventoryListener, type VirtualMachine } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { DomainReader, DomainSnapshot } from '../domains/domain-reader.js';
import type { StopRequests } from '../power/stop-requests.js';
import type { DomainEvent } from './event-line.js';
import type { GuestAddresses } from './guest-addresses.js';
import { toVirtualMachine } from './to-virtual-machine.js';

export interface LiveDomainsParts {
  readonly finder: DomainFinder;
  readonly reader: DomainReader;
  readonly stops: StopRequests;
  readonly addresses: GuestAddresses;
  readonly listener: InventoryListener;
  /** Hears of each domain at the beginning. */
  readonly met: (domain: DomainDescription) => void;
  /** A read failed: the connection is of no use any more. */
  readonly failed: (error: unknown) => void;
}

interface Known {
  readonly snapshot: DomainSnapshot;
  readonly shown: VirtualMachine;
}

/** What one connection knows of the domains, kept right by reading again what an event names. */
export class LiveDomains {
  private readonly known = new Map<string, Known>();
  private readonly dirty = new Set<string>();
  private everythingIsDirty = false;
  private isReading = false;
  private isClosed = false;

  constructor(
    private readonly parts: LiveDomainsParts,
    private readonly host: string,
  ) {}

  /** Reads everything and tells it. Events that come meanwhile are read afterwards. */
  async load(): Promise<void> {
    this.isReading = true;
    try {
      const snapshots = await this.parts.reader.read(await this.parts.finder.all());
      if (this.isClosed) return;
      for (const snapshot of snapshots) this.keep(snapshot);
      for (const { description } of snapshots) this.parts.met(description);
      this.parts.listener.listed([...this.known.values()].map(({ shown }) => shown));
    } finally {
      this.isReading = false;
    }
    this.readDirty();
  }

  handle({ kind, domain, detail }: DomainEvent): void {
    if (kind === 'lifecycle' && detail.startsWith('Started')) this.beginAnew(domain);
    this.dirty.add(domain);
    this.readDirty();
  }

  /** Reads everything again, and tells what differs. */
  reconcile(): void {
    this.everythingIsDirty = true;
    this.readDirty();
  }

  /** Tells a domain again from what is known; for what libvirt does not report. */
  refresh(uuid: string): void {
    const known = this.known.get(uuid);
    if (known && !this.isClosed) this.publish(known.snapshot);
  }

  close(): void {
    this.isClosed = true;
  }

  private readDirty(): void {
    if (this.isReading || this.isClosed || (this.dirty.size === 0 && !this.everythingIsDirty)) return;
    this.isReading = true;
    void this.readOnce().then(
      () => {
        this.isReading = false;
        this.readDirty();
      },
      (error: unknown) => {
        if (!this.isClosed) this.parts.failed(error);
      },
    );
  }

  /** One round: whatever becomes dirty while it reads is for the next one, so that a burst of events costs two reads. */
  private async readOnce(): Promise<void> {
    const names = new Set(this.dirty);
    const everything = this.everythingIsDirty;
    this.dirty.clear();
    this.everythingIsDirty = false;

    const all = await this.parts.finder.all();
    const snapshots = await this.parts.reader.read(everything ? all : all.filter(({ name }) => names.has(name)));
    if (this.isClosed) return;

    const present = new Set(all.map(({ uuid }) => uuid));
    for (const uuid of [...this.known.keys()]) if (!present.has(uuid)) this.drop(uuid);
    for (const snapshot of snapshots) this.publish(snapshot);
  }

  private publish(snapshot: DomainSnapshot): void {
    const before = this.known.get(snapshot.description.uuid);
    const after = this.keep(snapshot);
    const renamed = before && before.shown.ref.name !== after.shown.ref.name;
    if (renamed) this.parts.listener.removed(before.shown.ref);
    if (!before || renamed || !isSameInstance(before.shown, after.shown)) this.parts.listener.changed(after.shown);
  }

  private keep(snapshot: DomainSnapshot): Known {
    const { stops, addresses, finder } = this.parts;
    const { description, state } = snapshot;
    const { uuid } = description;
    if (!state.isActive) stops.end(uuid);
    addresses.observe(description, state.isActive);
    const shown = toVirtualMachine(snapshot, {
      ref: finder.refOf(description),
      host: this.host,
      ip: addresses.of(uuid),
      stopping: stops.of(uuid),
    });
    const known = { snapshot, shown };
    this.known.set(uuid, known);
    return known;
  }

  private drop(uuid: string): void {
    const known = this.known.get(uuid);
    this.known.delete(uuid);
    this.parts.addresses.forget(uuid);
    this.parts.stops.end(uuid);
    if (known) this.parts.listener.removed(known.shown.ref);
  }

  private beginAnew(domain: string): void {
    for (const { snapshot } of this.known.values()) {
      if (snapshot.description.name !== domain) continue;
      this.parts.addresses.forget(snapshot.description.uuid);
      this.parts.stops.end(snapshot.description.uuid);
    }
  }
}
