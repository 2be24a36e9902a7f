import type { SlotArray } from './slot-array.js';
import { TAG, closesAt, counted, inFlight, rateIndex } from './slot.js';

/** Evictable keys to compare before one is evicted. */
const CANDIDATES = 32;
/** Slots to examine before giving up: bounds the time of one decision. */
const MAX_EXAMINED_SLOTS = 16_384;

/** The terms of each rate by its index. */
export interface Terms {
  readonly limits: Float64Array;
  /** 0 for rates with fixed windows. */
  readonly gcraWindows: Float64Array;
}

/**
 * Among the next few evictable keys from a slot on, the slot of the one that has used the smallest part of its limit.
 * Keys at their limit or with events in flight are not evictable. -1 if there is no evictable key within reach.
 */
export function findVictim(array: SlotArray, from: number, terms: Terms, now: number): number {
  let victim = -1;
  let smallest = 1;
  let candidates = 0;
  let slot = from;
  for (let left = Math.min(array.length, MAX_EXAMINED_SLOTS); left > 0 && candidates < CANDIDATES; left--, slot++) {
    if (slot >= array.length) slot = 0;
    const page = array.page(slot);
    const at = array.wordOf(slot);
    if (page[at + TAG] === 0 || inFlight(page, at) !== 0) continue;
    const share = usedShare(page, at, terms, now);
    if (share < 1) candidates++;
    if (share < smallest) {
      victim = slot;
      smallest = share;
    }
  }
  return victim;
}

/** The used part of the limit; 1 or more for a key that would be refused. */
function usedShare(page: Int32Array, at: number, { limits, gcraWindows }: Terms, now: number): number {
  const rate = rateIndex(page[at + TAG]!);
  const limit = limits[rate]!;
  const windowMs = gcraWindows[rate]!;
  const events = windowMs === 0 ? counted(page, at) : Math.ceil(((closesAt(page, at) - now) * limit) / windowMs);
  return events / limit;
}
