import type { SlotArray } from './slot-array.js';
import { TAG, counted, inFlight, rateIndex } from './slot.js';

/** Evictable keys to compare before one is evicted. */
const CANDIDATES = 32;
/** Slots to examine before giving up: bounds the time of one decision. */
const MAX_EXAMINED_SLOTS = 16_384;

/**
 * Among the next few evictable keys from a slot on, the slot of the one that has used the smallest part of its limit. Keys at
 * their limit or with events in flight are not evictable. -1 if there is no evictable key within reach.
 */
export function findVictim(array: SlotArray, from: number, limits: Float64Array): number {
  let victim = -1;
  let smallest = 1;
  let candidates = 0;
  let slot = from;
  for (let left = Math.min(array.length, MAX_EXAMINED_SLOTS); left > 0 && candidates < CANDIDATES; left--, slot++) {
    if (slot >= array.length) slot = 0;
    const page = array.page(slot);
    const at = array.wordOf(slot);
    if (page[at + TAG] === 0 || inFlight(page, at) !== 0) continue;
    const share = counted(page, at) / limits[rateIndex(page[at + TAG]!)]!;
    if (share < 1) candidates++;
    if (share < smallest) {
      victim = slot;
      smallest = share;
    }
  }
  return victim;
}
