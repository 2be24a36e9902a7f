import { formatRef, type Clock, type Grant, type InstanceKind } from '@headgate/domain-contracts';
import { ChangeFeed, type FleetEvent, type FleetReader } from '@headgate/fleet';
import { presentEntry } from './present.js';
import { readable } from './readable.js';

export interface GrantedFeedDeps {
  readonly fleet: FleetReader;
  readonly kind: InstanceKind;
  readonly grant: Grant;
  readonly clock: Clock;
  readonly serialize: (changes: readonly FleetEvent[]) => Buffer;
}

/** The changes of the instances that one client may read. An instance that leaves them is reported as removed. */
export class GrantedFeed {
  readonly feed: ChangeFeed<FleetEvent>;
  private readonly sent = new Set<string>();
  private readonly unsubscribe: () => void;

  constructor(private readonly deps: GrantedFeedDeps) {
    const { fleet, clock, serialize } = deps;
    this.feed = new ChangeFeed({ clock, serialize });
    this.unsubscribe = fleet.subscribe((change) => this.publish(change));
  }

  /** The readable entries as a JSON array. */
  snapshot(): Buffer {
    const { fleet, kind, grant } = this.deps;
    const entries = [...readable(fleet.all(kind), grant)];
    this.sent.clear();
    for (const { instance } of entries) this.sent.add(formatRef(instance.ref));
    return Buffer.from(JSON.stringify(entries.map(presentEntry)));
  }

  close(): void {
    this.unsubscribe();
    this.feed.close();
  }

  private publish(change: FleetEvent): void {
    if (change.type === 'status') return this.feed.push(`status/${change.state.context}`, change);
    const { instance } = change.type === 'changed' ? change.entry : change;
    if (instance.ref.kind !== this.deps.kind) return;
    const ref = formatRef(instance.ref);
    if (change.type === 'changed' && this.deps.grant.allows('read', change.entry)) {
      this.sent.add(ref);
      this.feed.push(ref, change);
    } else if (this.sent.delete(ref)) {
      this.feed.push(ref, { type: 'removed', instance });
    }
  }
}
