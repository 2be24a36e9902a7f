import type { SlotArray } from './slot-array.js';
import { TAG, counted, inFlight, rateIndex } from './slot.js';

/** Keys among which the one farthest from its limit gives way. */
const CANDIDATES = 32;
/** Slots looked at before the table is taken to be full of keys that must stay: a bound on the time of one decision. */
const MOST_LOOKED_AT = 16_384;

/**
 * Among the next few keys from a slot on that may give way, the one that has used the smallest part of its limit. A key
 * at its limit may not, nor one with something in flight; -1 when there is none far and wide.
 */
export function findVictim(array: SlotArray, from: number, limits: Float64Array): number {
  let victim = -1;
  let smallest = 1;
  let candidates = 0;
  let slot = from;
  for (let left = Math.min(array.length, MOST_LOOKED_AT); left > 0 && candidates < CANDIDATES; left--, slot++) {
    if (slot >= array.length) slot = 0;
    const page = array.page(slot);
    const at = array.word(slot);
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
