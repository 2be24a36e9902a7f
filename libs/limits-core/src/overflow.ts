import type { Words } from './fingerprint.js';
import { MOST_RATES, SLOT_WORDS, TAG, clearEvents, closesAt } from './slot.js';

/** For each rate. */
export const BUCKETS = 64;
const MOST_WORDS = MOST_RATES * BUCKETS * SLOT_WORDS;
export const MOST_OVERFLOW_BYTES = MOST_WORDS * 4;

/**
 * Coarse buckets, for keys that find the table full of keys that must stay: many keys share one window. That errs on
 * the side of refusing, and takes a fixed amount of memory.
 */
export class Overflow {
  /** Windows opened here: anything but 0 says that the table is too small for what it meets. */
  opened = 0;
  slots = new Int32Array(0);
  #lastClosing = -Infinity;

  /** The open window of the bucket that the key falls into; -1: it has none. */
  find(rate: number, key: Words, now: number): number {
    if (now >= this.#lastClosing) return -1;
    const at = this.#bucket(rate, key);
    return this.slots[at + TAG] !== 0 && closesAt(this.slots, at) > now ? at : -1;
  }

  /** The bucket, emptied. */
  open(rate: number, key: Words): number {
    if (this.slots.length === 0) this.slots = new Int32Array(MOST_WORDS);
    this.opened++;
    const at = this.#bucket(rate, key);
    clearEvents(this.slots, at);
    return at;
  }

  closing(time: number): void {
    if (time > this.#lastClosing) this.#lastClosing = time;
  }

  remove(at: number): void {
    this.slots.fill(0, at, at + SLOT_WORDS);
  }

  clear(): void {
    this.slots = new Int32Array(0);
    this.#lastClosing = -Infinity;
  }

  #bucket(rate: number, key: Words): number {
    return (rate * BUCKETS + (key[2]! & (BUCKETS - 1))) * SLOT_WORDS;
  }
}
