import type { Words } from './fingerprint.js';
import { SLOT_WORDS, TAG, closesIn } from './slot.js';
import { findVictim } from './victim.js';

const NOTHING = new Int32Array(0);
const SMALLEST = 8;
export const FULLEST = 0.75;
const GROWTH = 1.25;
/** Slots looked at for closed windows with each new key: more than one, so that sweeping overtakes growing. */
const SWEPT_PER_INSERT = 4;
/** A slot's time is told from an old one for 2^31 ms; looking at every slot twice as often is safe. */
const MOST_MS_UNSWEPT = 2 ** 30;

/**
 * A small open-addressing table of slots. It is small so that the steps that touch all of it, growing and a full sweep,
 * take some microseconds; it grows by a quarter so that it is never much larger than its keys.
 */
export class Segment {
  slots = NOTHING;
  size = 0;
  /** Keys that gave way to others although their window was open. */
  evicted = 0;
  readonly #most: number;
  readonly #limits: Float64Array;
  #capacity = 0;
  #hand = 0;
  #sweptAt = 0;
  /** No window of this segment closes before. */
  #nextClosing = Infinity;

  /** @param limits the limit of each rate by its index, shared with whoever changes them. */
  constructor(mostSlots: number, limits: Float64Array) {
    this.#most = mostSlots;
    this.#limits = limits;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Where the key's slot is, its window open or not; -1 when it has none. */
  find(key: Words, now: number): number {
    if (this.size === 0) return -1;
    if (now - this.#sweptAt >= MOST_MS_UNSWEPT) this.sweepAll(now);
    if (this.#capacity === 0) return -1;
    const slots = this.slots;
    const k0 = key[0]!;
    const k1 = key[1]!;
    const k2 = key[2]!;
    const k3 = key[3]!;
    let at = this.#home(k1);
    while (slots[at + TAG] !== 0) {
      if (slots[at] === k0 && slots[at + 1] === k1 && slots[at + 2] === k2 && slots[at + 3] === k3) return at;
      at += SLOT_WORDS;
      if (at === slots.length) at = 0;
    }
    return -1;
  }

  /**
   * A slot for a key that has none, filled but for its counts, its closing time and its tag. Closed windows give way
   * first, then a key far from its limit; -1 when every key must stay.
   */
  insert(key: Words, now: number): number {
    if (this.size === 0) this.#sweptAt = now;
    this.#sweep(SWEPT_PER_INSERT, now);
    if (this.size + 1 > this.#capacity * FULLEST && !this.#makeRoom(now)) return -1;
    const at = this.#free(key[1]!);
    for (let word = 0; word < 4; word++) this.slots[at + word] = key[word]!;
    this.size++;
    return at;
  }

  /** To be told each closing time that is set, so that sweeping starts no later than it. */
  closing(time: number): void {
    if (time < this.#nextClosing) this.#nextClosing = time;
  }

  /** Takes a slot out and moves up those behind it that it was in the way of, so that no gap hides a key. */
  remove(at: number): void {
    const slots = this.slots;
    let gap = at;
    for (let next = this.#after(at); slots[next + TAG] !== 0; next = this.#after(next)) {
      const home = this.#home(slots[next + 1]!);
      const stays = gap <= next ? home > gap && home <= next : home > gap || home <= next;
      if (stays) continue;
      slots.copyWithin(gap, next, next + SLOT_WORDS);
      gap = next;
    }
    slots.fill(0, gap, gap + SLOT_WORDS);
    this.size--;
  }

  /** Takes out every closed window, and gives memory back when few keys are left. */
  sweepAll(now: number): void {
    if (now - this.#sweptAt >= 2 * MOST_MS_UNSWEPT) this.clear();
    this.#sweptAt = now;
    this.#sweep(this.#capacity, now);
    const fitting = this.size === 0 ? 0 : Math.max(SMALLEST, Math.ceil((this.size + 1) / FULLEST));
    if (fitting < this.#capacity / 2) this.#resize(fitting);
  }

  clear(): void {
    this.size = 0;
    this.#resize(0);
    this.#nextClosing = Infinity;
  }

  #sweep(slotCount: number, now: number): void {
    if (now < this.#nextClosing) return;
    const whole = slotCount === this.#capacity;
    if (whole) this.#nextClosing = Infinity;
    for (let left = Math.min(slotCount, this.#capacity); left > 0; left--) {
      while (this.slots[this.#hand + TAG] !== 0 && closesIn(this.slots, this.#hand, now) <= 0) this.remove(this.#hand);
      if (whole && this.slots[this.#hand + TAG] !== 0) this.closing(now + closesIn(this.slots, this.#hand, now));
      this.#hand = this.#after(this.#hand);
    }
  }

  #makeRoom(now: number): boolean {
    this.#sweep(this.#capacity, now);
    if (this.size + 1 <= this.#capacity * FULLEST) return true;
    if (this.#capacity < this.#most) {
      this.#resize(Math.min(this.#most, Math.max(SMALLEST, Math.ceil(this.#capacity * GROWTH))));
      return true;
    }
    const victim = findVictim(this.slots, this.#hand, this.#limits);
    if (victim === -1) return false;
    this.#hand = victim;
    this.remove(victim);
    this.evicted++;
    return true;
  }

  #resize(capacity: number): void {
    const old = this.slots;
    this.slots = capacity === 0 ? NOTHING : new Int32Array(capacity * SLOT_WORDS);
    this.#capacity = capacity;
    this.#hand = 0;
    if (this.size === 0) return;
    for (let from = 0; from < old.length; from += SLOT_WORDS) {
      if (old[from + TAG] === 0) continue;
      const at = this.#free(old[from + 1]!);
      for (let word = 0; word < SLOT_WORDS; word++) this.slots[at + word] = old[from + word]!;
    }
  }

  #free(hash: number): number {
    let at = this.#home(hash);
    while (this.slots[at + TAG] !== 0) at = this.#after(at);
    return at;
  }

  /** Where a key would best lie: its hash scaled to the capacity, which need not be a power of two. */
  #home(hash: number): number {
    return Math.floor(((hash >>> 0) / 2 ** 32) * this.#capacity) * SLOT_WORDS;
  }

  #after(at: number): number {
    return at + SLOT_WORDS === this.slots.length ? 0 : at + SLOT_WORDS;
  }
}
