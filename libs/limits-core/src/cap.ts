const HIGHEST_CAP = 2 ** 31 - 1;

/** How much one holder may make the server hold. `what` is the plural that a refusal's text uses: «pushers». */
export interface CapTerms {
  readonly limit: number;
  readonly what: string;
}

export interface Cap extends CapTerms {
  readonly name: string;
}

export interface CapRefusal {
  readonly granted: false;
  readonly cap: string;
  readonly what: string;
  readonly limit: number;
  /** Held and in flight, before this offer. */
  readonly held: number;
  readonly offered: number;
}

/** Room held for a write that is under way. The first of the two ends it; a later one does nothing. */
export interface CapReservation {
  readonly granted: true;
  /** The write happened. `added`: how many were really added, when it was fewer than offered. */
  commit(added?: number): void;
  /** The write did not happen. */
  release(): void;
}

/** What a write offers to a holder. */
export interface CapOffer {
  /** Whose room it is: a user, a device, a sender in a room. */
  readonly holder: string;
  /** How many it adds at most; 1 when left out. */
  readonly offered?: number;
  /** It replaces something that is held: always granted, adds nothing. */
  readonly rewrite?: boolean;
  /** What the write is about (an account-data type, a pusher's key): parallel writes of one new thing take one place. */
  readonly id?: string;
}

/** @throws RangeError naming the cap: zero is a typo, never a way to switch something off. */
export function checkCapTerms(name: string, { limit }: CapTerms): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > HIGHEST_CAP) {
    throw new RangeError(`${name}: the cap must be a whole number from 1 to ${HIGHEST_CAP}, not ${limit}.`);
  }
}
