import { LeastRecentlyUsed } from '@headgate/homeserver-contracts';

/** Shorter than any homeserver remembers its transactions: it would schedule a forgotten one again. */
export const TRANSACTION_LIFETIME_MS = 25 * 60 * 1000;

/** A holder with more IDs than this may have some that are due. */
const MIN_PRUNED_IDS = 200;

/** The delay IDs of a holder. */
interface DelayIds {
  readonly ids: Set<string>;
  /**
   * How many there may be before those that are due are dropped: twice as many as the last time, so that adding one
   * takes constant time.
   */
  maxUnpruned: number;
}

interface Scheduled {
  holder: string;
  delayMs: number;
  due: number;
}

/** Scheduled events and their transactions. They end with the gateway, which the upstream's list makes up for. */
export interface DelayedEvents {
  add(holder: string, delayId: string, delayMs: number): void;
  /** @returns the holder of the event, if it was known */
  end(delayId: string): string | undefined;
  restart(delayId: string): void;
  /** The events of a holder that are not due. */
  count(holder: string): number;
  rememberTransaction(key: string): void;
  hasTransaction(key: string): boolean;
  close(): void;
}

/** Those that one process has scheduled. */
export class DelaysInMemory implements DelayedEvents {
  private readonly scheduled = new LeastRecentlyUsed<string, Scheduled>(100_000);
  /** The delay IDs of each holder, so that counting does not scan those of all others. */
  private readonly delayIds = new LeastRecentlyUsed<string, DelayIds>(100_000);
  private readonly transactions = new LeastRecentlyUsed<string, number>(100_000);

  constructor(private readonly now: () => number) {}

  add(holder: string, delayId: string, delayMs: number): void {
    this.scheduled.set(delayId, { holder, delayMs, due: this.now() + delayMs });
    const held = this.delayIds.get(holder) ?? { ids: new Set(), maxUnpruned: MIN_PRUNED_IDS };
    held.ids.add(delayId);
    this.delayIds.set(holder, held);
    if (held.ids.size > held.maxUnpruned) this.prune(holder, held);
  }

  end(delayId: string): string | undefined {
    const { holder } = this.scheduled.get(delayId) ?? {};
    this.scheduled.delete(delayId);
    if (holder !== undefined) this.delayIds.get(holder)?.ids.delete(delayId);
    return holder;
  }

  restart(delayId: string): void {
    const event = this.scheduled.get(delayId);
    if (event) this.scheduled.set(delayId, { ...event, due: this.now() + event.delayMs });
  }

  count(holder: string): number {
    const held = this.delayIds.get(holder);
    return held ? this.prune(holder, held) : 0;
  }

  rememberTransaction(key: string): void {
    this.transactions.set(key, this.now());
  }

  hasTransaction(key: string): boolean {
    const at = this.transactions.get(key);
    return at !== undefined && this.now() - at < TRANSACTION_LIFETIME_MS;
  }

  close(): void {
    // Nothing is open.
  }

  /** Drops the events that are due. @returns the number of the others */
  private prune(holder: string, held: DelayIds): number {
    const { ids } = held;
    for (const id of ids) {
      const event = this.scheduled.get(id);
      if (event && event.due > this.now()) continue;
      this.scheduled.delete(id);
      ids.delete(id);
    }
    held.maxUnpruned = Math.max(MIN_PRUNED_IDS, 2 * ids.size);
    if (ids.size === 0) this.delayIds.delete(holder);
    return ids.size;
  }
}
