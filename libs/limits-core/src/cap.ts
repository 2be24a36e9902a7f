const MAX_CAP = 2 ** 31 - 1;

/** How much one holder may hold. `resource` is the plural noun that the text of a refusal uses: "pushers". */
export interface CapOptions {
  readonly limit: number;
  readonly resource: string;
}

export interface Cap extends CapOptions {
  readonly name: string;
}

export interface CapRefusal {
  readonly granted: false;
  readonly cap: string;
  readonly resource: string;
  readonly limit: number;
  /** Held and reserved, before this write. */
  readonly held: number;
  /** The amount that the refused write asked for. */
  readonly requested: number;
}

/** An amount reserved for a write in progress. The first call of either method settles it; later calls do nothing. */
export interface CapReservation {
  readonly granted: true;
  /** The write succeeded. `added`: the amount actually added, if less than reserved. */
  commit(added?: number): void;
  /** The write failed. */
  release(): void;
}

/** A write under a cap. */
export interface CapWrite {
  /** The owner of the quota: a user, a device, a sender in a room. */
  readonly holder: string;
  /** The largest amount that the write adds; 1 by default. */
  readonly amount?: number;
  /** The write replaces something already held: always granted, adds nothing. */
  readonly rewrite?: boolean;
  /**
   * Identifies the written item (an account-data type, a pusher's key): parallel writes of one new item share one
   * place.
   */
  readonly id?: string;
}

/** @throws RangeError naming the cap. Zero is refused as a typo: it is not a way to disable a cap. */
export function checkCapOptions(name: string, { limit }: CapOptions): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_CAP) {
    throw new RangeError(`${name}: the cap must be a whole number from 1 to ${MAX_CAP}, not ${limit}.`);
  }
}
