import { COUNTED, IN_FLIGHT, SLOT_WORDS, TAG, rateIndex } from './slot.js';

/** Keys among which the one farthest from its limit gives way. */
const CANDIDATES = 32;

/**
 * Among the next few keys from a slot on that may give way, the one that has used the smallest part of its limit. A key
 * at its limit may not, nor one with something in flight; -1 when that is all of them.
 */
export function findVictim(slots: Int32Array, from: number, limits: Float64Array): number {
  let victim = -1;
  let smallest = 1;
  let seen = 0;
  let at = from;
  do {
    if (slots[at + TAG] !== 0 && slots[at + IN_FLIGHT] === 0) {
      const share = slots[at + COUNTED]! / limits[rateIndex(slots[at + TAG]!)]!;
      if (share < 1) seen++;
      if (share < smallest) {
        victim = at;
        smallest = share;
      }
    }
    at = at + SLOT_WORDS === slots.length ? 0 : at + SLOT_WORDS;
  } while (at !== from && seen < CANDIDATES);
  return victim;
}
