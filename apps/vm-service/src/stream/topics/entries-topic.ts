import { visibleInstances } from '@headgate/access';
import { formatRef, type Caller, type InstanceKind } from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';
import { GrantedEntries, type EntryEvent } from '../../fleet/granted-entries.js';
import { presentEntry } from '../../fleet/present.js';
import { eventPieces, Topic, type FollowedTopic, type TopicChange } from './topic.js';

/** The VMs or the containers: `snapshot`, then `changed` and `removed`, as in the stream of their list. */
export class EntriesTopic extends Topic {
  override readonly name;
  override readonly need = visibleInstances;

  constructor(
    private readonly fleet: FleetReader,
    private readonly kind: InstanceKind,
  ) {
    super();
    this.name = kind === 'vm' ? ('vms' as const) : ('cts' as const);
  }

  override follow(reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic {
    const { fleet, kind } = this;
    const granted = reader && new GrantedEntries(fleet, kind, reader.grant);
    const close = fleet.subscribe((change) => {
      if (change.type === 'status') return;
      const { instance } = change.type === 'changed' ? change.entry : change;
      if (instance.ref.kind !== kind) return;
      const seen = granted ? granted.view(change) : change;
      if (seen) publish(this.changeOf(seen));
    });
    return {
      snapshot: async () => {
        await fleet.whenSynced();
        return eventPieces(`${this.name}.snapshot`, granted ? [granted.snapshot()] : fleet.snapshot(kind));
      },
      close,
    };
  }

  private changeOf(change: EntryEvent): TopicChange {
    const { ref } = change.type === 'changed' ? change.entry.instance : change.instance;
    const text = formatRef(ref);
    const data = () => (change.type === 'changed' ? presentEntry(change.entry) : { ref: text });
    return { topic: this.name, key: text, event: change.type, data };
  }
}
