import type { HashWords } from './fingerprint.js';
import { MAX_RATES, SLOT_WORDS, TAG, clearEvents, closesAt } from './slot.js';

export const BUCKETS_PER_RATE = 64;
const MAX_WORDS = MAX_RATES * BUCKETS_PER_RATE * SLOT_WORDS;
export const MAX_OVERFLOW_BYTES = MAX_WORDS * 4;

/**
 * Coarse buckets for new keys while the table is full of keys that may not be evicted: many keys share one window. That
 * errs on the side of refusing and takes a fixed amount of memory.
 */
export class OverflowBuckets {
  /** Windows opened here. Anything but 0 means that the table is too small for its load. */
  opened = 0;
  slots = new Int32Array(0);
  private lastClosing = -Infinity;

  /** The position of the open window of the key's bucket; -1 if it has none. */
  find(rate: number, key: HashWords, now: number): number {
    if (now >= this.lastClosing) return -1;
    const at = this.bucketOf(rate, key);
    return this.slots[at + TAG] !== 0 && closesAt(this.slots, at) > now ? at : -1;
  }

  /** Clears the key's bucket and returns its position. */
  open(rate: number, key: HashWords): number {
    if (this.slots.length === 0) this.slots = new Int32Array(MAX_WORDS);
    this.opened++;
    const at = this.bucketOf(rate, key);
    clearEvents(this.slots, at);
    return at;
  }

  /** Must be called with each closing time written to a bucket. */
  noteClosing(time: number): void {
    if (time > this.lastClosing) this.lastClosing = time;
  }

  remove(at: number): void {
    this.slots.fill(0, at, at + SLOT_WORDS);
  }

  clear(): void {
    this.slots = new Int32Array(0);
    this.lastClosing = -Infinity;
  }

  private bucketOf(rate: number, key: HashWords): number {
    return (rate * BUCKETS_PER_RATE + (key[2]! & (BUCKETS_PER_RATE - 1))) * SLOT_WORDS;
  }
}
