import type { CapReservation } from './cap.js';

/** Parallel writes of one new item. */
interface PendingItem {
  writers: number;
  written: boolean;
}

/** One holder under one cap: the amount held, and the amount reserved by writes in progress. */
export class CapHolder {
  held: number;
  /** Items added by writes since this holder is known. */
  added = 0;
  /** The count is too old: it has to be replaced before the next write. */
  isStale = false;
  private inFlight = 0;
  private readonly pendingItems = new Map<string, PendingItem>();

  constructor(held: number) {
    this.held = held;
  }

  get used(): number {
    return this.held + this.inFlight;
  }

  get idle(): boolean {
    return this.inFlight === 0;
  }

  /** Undefined when the amount does not fit. An amount of 0 always fits. */
  reserve(limit: number, amount: number, id?: string): CapReservation | undefined {
    const pending = id === undefined ? undefined : this.pendingItems.get(id);
    if (!pending && amount > 0 && this.used + amount > limit) return undefined;
    if (!pending) this.inFlight += amount;
    if (id === undefined) return createReservation(amount, (added) => this.settle(amount, added));
    const item = pending ?? { writers: 0, written: false };
    item.writers++;
    this.pendingItems.set(id, item);
    return createReservation(amount, (added) => this.settleItem(id, item, amount, added > 0));
  }

  private settle(amount: number, added: number): void {
    this.inFlight -= amount;
    this.held += added;
    this.added += added;
  }

  /** Writers of the same item share one place. The last one to finish keeps it if any of them succeeded. */
  private settleItem(id: string, item: PendingItem, amount: number, written: boolean): void {
    item.writers--;
    item.written ||= written;
    if (item.writers > 0) return;
    this.pendingItems.delete(id);
    this.settle(amount, item.written ? amount : 0);
  }
}

/** A reservation that settles once. */
function createReservation(amount: number, settle: (added: number) => void): CapReservation {
  let open = true;
  const end = (added: number): void => {
    if (!open) return;
    open = false;
    settle(Math.max(0, Math.min(added, amount)));
  };
  return { granted: true, commit: (added = amount) => end(added), release: () => end(0) };
}
