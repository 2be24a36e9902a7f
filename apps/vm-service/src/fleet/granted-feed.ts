import { formatRef, type Clock, type Grant, type InstanceKind } from '@headgate/domain-contracts';
import { ChangeFeed, type FleetEvent, type FleetReader } from '@headgate/fleet';
import { GrantedEntries } from './granted-entries.js';

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
  private readonly entries: GrantedEntries;
  private readonly unsubscribe: () => void;

  constructor({ fleet, kind, grant, clock, serialize }: GrantedFeedDeps) {
    this.feed = new ChangeFeed({ clock, serialize });
    this.entries = new GrantedEntries(fleet, kind, grant);
    this.unsubscribe = fleet.subscribe((change) => this.publish(change));
  }

  /** The readable entries as a JSON array. */
  snapshot(): Buffer {
    return this.entries.snapshot();
  }

  close(): void {
    this.unsubscribe();
    this.feed.close();
  }

  private publish(change: FleetEvent): void {
    if (change.type === 'status') return this.feed.push(`status/${change.state.context}`, change);
    const seen = this.entries.view(change);
    if (!seen) return;
    const { instance } = seen.type === 'changed' ? seen.entry : seen;
    this.feed.push(formatRef(instance.ref), seen);
  }
}
