import { identityKey } from '../names/identity-key.js';

export interface FleetEntry {
  readonly ref: string;
  readonly name: string;
  readonly namespace: string;
  readonly context: string;
  readonly stale?: boolean;
}

interface Slot<E> {
  readonly key: string;
  entry: E;
}

/**
 * Entries sorted by identity. Updating an entry never moves it, so only additions and removals cost a binary search,
 * and a stable sort by another column leaves equal entries in this order.
 */
export class SortedEntries<E extends FleetEntry> {
  private slots: Slot<E>[] = [];
  private byRef = new Map<string, Slot<E>>();

  reset(entries: readonly E[]): void {
    this.byRef = new Map(entries.map((entry) => [entry.ref, { key: identityKey(entry), entry }]));
    this.slots = [...this.byRef.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  put(entry: E): void {
    const known = this.byRef.get(entry.ref);
    if (known) return void (known.entry = entry);
    const slot = { key: identityKey(entry), entry };
    this.byRef.set(entry.ref, slot);
    this.slots.splice(this.indexOf(slot.key), 0, slot);
  }

  remove(ref: string): void {
    const slot = this.byRef.get(ref);
    if (!slot) return;
    this.byRef.delete(ref);
    this.slots.splice(this.indexOf(slot.key), 1);
  }

  list(): E[] {
    return this.slots.map(({ entry }) => entry);
  }

  /** The index of a key, or where it would be inserted. */
  private indexOf(key: string): number {
    let from = 0;
    let to = this.slots.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.slots[middle] as Slot<E>).key < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
