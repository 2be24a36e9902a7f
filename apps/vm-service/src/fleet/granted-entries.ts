import { formatRef, type Grant, type InstanceKind } from '@headgate/domain-contracts';
import type { FleetEvent, FleetReader } from '@headgate/fleet';
import { presentEntry } from './present.js';
import { readable } from './readable.js';

/** A change of an entry, as opposed to one of a context. */
export type EntryEvent = Exclude<FleetEvent, { readonly type: 'status' }>;

/** The list of one kind as one client sees it, who may not read every instance. */
export class GrantedEntries {
  private readonly sent = new Set<string>();

  constructor(
    private readonly fleet: FleetReader,
    private readonly kind: InstanceKind,
    private readonly grant: Grant,
  ) {}

  /** The readable entries as a JSON array. */
  snapshot(): Buffer {
    const entries = [...readable(this.fleet.all(this.kind), this.grant)];
    this.sent.clear();
    for (const { instance } of entries) this.sent.add(formatRef(instance.ref));
    return Buffer.from(JSON.stringify(entries.map(presentEntry)));
  }

  /**
   * A change as the client sees it: an instance that leaves its list is removed.
   * @returns undefined for one of an instance that the client has never seen
   */
  view(change: EntryEvent): EntryEvent | undefined {
    const { instance } = change.type === 'changed' ? change.entry : change;
    if (instance.ref.kind !== this.kind) return undefined;
    const ref = formatRef(instance.ref);
    if (change.type === 'changed' && this.grant.allows('read', change.entry)) {
      this.sent.add(ref);
      return change;
    }
    return this.sent.delete(ref) ? { type: 'removed', instance } : undefined;
  }
}
