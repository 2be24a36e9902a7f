import {
  type Cap,
  type CapOptions,
  type CapRefusal,
  type CapReservation,
  type CapWrite,
  checkCapOptions,
} from './cap.js';
import { CapHolder } from './cap-holder.js';

export interface CapLedgerOptions {
  /**
   * Holders whose count is cached. Beyond this, the least recently used idle holder is dropped and counted again later.
   */
  readonly maxHolders?: number;
}

/**
 * Returns how many items a holder holds, from the authoritative source: a table of the store or the upstream's
 * response.
 */
export type CountHeld = () => number | Promise<number>;

/**
 * Tracks how much each holder holds and has reserved, so that parallel writes can't exceed a cap together. It only
 * deals in numbers: the caller knows which item a write concerns and whether it replaces an existing one.
 */
export class CapLedger {
  private readonly maxHolders: number;
  private readonly capsByName = new Map<string, Cap>();
  /** By cap and holder, least recently used first. */
  private readonly holders = new Map<string, CapHolder>();
  private readonly loading = new Map<string, Promise<void>>();

  constructor({ maxHolders = 100_000 }: CapLedgerOptions = {}) {
    this.maxHolders = maxHolders;
  }

  /** @throws RangeError when the limit is not a whole number of at least 1. */
  define(name: string, options: CapOptions): Cap {
    checkCapOptions(name, options);
    const { limit, resource } = options;
    const cap = Object.assign(this.capsByName.get(name) ?? { name }, { limit, resource });
    this.capsByName.set(name, cap);
    return cap;
  }

  get caps(): readonly Cap[] {
    return [...this.capsByName.values()];
  }

  /**
   * Reserves the amount of a write. The first write of a holder with an unknown count calls `count`; writes that arrive
   * in the meantime wait for the same result.
   */
  async reserve(cap: Cap, write: CapWrite, count: CountHeld): Promise<CapReservation | CapRefusal> {
    if (write.rewrite) return NO_OP;
    while (!this.isKnown(cap, write.holder)) await this.load(cap, write.holder, count);
    return this.reserveKnown(cap, write);
  }

  /** Like `reserve`, for a holder with a known count. @throws Error when the count is unknown. */
  reserveKnown(cap: Cap, write: CapWrite): CapReservation | CapRefusal {
    if (write.rewrite) return NO_OP;
    const holder = this.touch(cap, write.holder);
    if (!holder) throw new Error(`${cap.name}: the number of ${cap.resource} of this holder is not known.`);
    const { amount = 1, id } = write;
    if (!Number.isInteger(amount) || amount < 0) {
      throw new RangeError(`${cap.name}: the amount of a write must be a whole number of at least 0, not ${amount}.`);
    }
    const reservation = holder.reserve(cap.limit, amount, id);
    if (reservation) return reservation;
    const { name, resource, limit } = cap;
    return { granted: false, cap: name, resource, limit, held: holder.used, requested: amount };
  }

  isKnown(cap: Cap, holder: string): boolean {
    return this.holders.get(holderKey(cap, holder))?.isStale === false;
  }

  /** The known count of held items, without reservations; undefined if unknown. */
  held(cap: Cap, holder: string): number | undefined {
    return this.holders.get(holderKey(cap, holder))?.held;
  }

  /** Replaces the count with one from the authoritative source. Reservations stay. */
  reconcile(cap: Cap, holder: string, held: number): void {
    if (!Number.isInteger(held) || held < 0) {
      throw new RangeError(`${cap.name}: the count must be a whole number of at least 0, not ${held}.`);
    }
    const known = this.touch(cap, holder);
    if (known) Object.assign(known, { held, isStale: false });
    else this.remember(holderKey(cap, holder), new CapHolder(held));
  }

  /** Subtracts items that the holder no longer holds. Does nothing if the count is unknown. */
  free(cap: Cap, holder: string, amount = 1): void {
    const known = this.touch(cap, holder);
    if (known) known.held = Math.max(0, known.held - amount);
  }

  /** Drops the count of an idle holder, so that the next write counts again. For changes that bypassed this ledger. */
  invalidate(cap: Cap, holder: string): void {
    const known = this.holders.get(holderKey(cap, holder));
    if (known?.idle) this.holders.delete(holderKey(cap, holder));
  }

  /**
   * Makes the next write count again, even while others are in progress, which keep their places. One of them may then
   * count twice until the next count, which errs on the side of refusing.
   */
  expire(cap: Cap, holder: string): void {
    const known = this.holders.get(holderKey(cap, holder));
    if (known) known.isStale = true;
  }

  private load(cap: Cap, holder: string, count: CountHeld): Promise<void> {
    const key = holderKey(cap, holder);
    const running = this.loading.get(key);
    if (running) return running;
    const known = this.holders.get(key);
    const addedBefore = known?.added ?? 0;
    const loading = (async () => {
      const held = await count();
      // The count may have been taken before the writes that ended in the meantime.
      const isSame = known !== undefined && this.holders.get(key) === known;
      this.reconcile(cap, holder, held + (isSame ? known.added - addedBefore : 0));
    })().finally(() => this.loading.delete(key));
    this.loading.set(key, loading);
    return loading;
  }

  private touch(cap: Cap, holder: string): CapHolder | undefined {
    const key = holderKey(cap, holder);
    const known = this.holders.get(key);
    if (known) {
      this.holders.delete(key);
      this.holders.set(key, known);
    }
    return known;
  }

  private remember(key: string, holder: CapHolder): void {
    this.holders.set(key, holder);
    for (const [oldest, { idle }] of this.holders) {
      if (this.holders.size <= this.maxHolders) return;
      if (idle && oldest !== key) this.holders.delete(oldest);
    }
  }
}

const NO_OP: CapReservation = { granted: true, commit: () => undefined, release: () => undefined };

const holderKey = (cap: Cap, holder: string): string => `${cap.name}\0${holder}`;
