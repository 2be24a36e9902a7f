import type { Words } from './fingerprint.js';
import { NO_PAGE, PAGE_SHIFT, PAGE_SLOTS, type PagePool } from './page.js';
import { SLOT_WORDS, TAG, closesAt } from './slot.js';

const IN_PAGE = PAGE_SLOTS - 1;

/**
 * Open addressing over pages of slots. A key's home is its hash scaled to the capacity, so homes keep their order
 * whatever the capacity is; a run of slots that reaches the end goes on behind it, it does not wrap.
 */
export class SlotArray {
  readonly capacity: number;
  size = 0;
  readonly #pool: PagePool;
  readonly #pages: Int32Array[];
  /** For each page a time before which none of its windows closes. */
  readonly #firstClosing: number[];
  #swept = -1;
  /** None of its windows closes before. */
  #earliest = Infinity;

  constructor(capacity: number, pool: PagePool) {
    this.capacity = capacity;
    this.#pool = pool;
    this.#pages = new Array<Int32Array>(Math.ceil(capacity / PAGE_SLOTS)).fill(NO_PAGE);
    this.#firstClosing = new Array<number>(this.#pages.length).fill(Infinity);
  }

  /** Slots including those behind the capacity. */
  get length(): number {
    return this.#pages.length * PAGE_SLOTS;
  }

  /** The page of a slot, and with `word` where in it the slot starts. */
  page(slot: number): Int32Array {
    return this.#pages[slot >>> PAGE_SHIFT] ?? NO_PAGE;
  }

  word(slot: number): number {
    return (slot & IN_PAGE) * SLOT_WORDS;
  }

  home(hash: number): number {
    return (((hash >>> 0) / 2 ** 32) * this.capacity) | 0;
  }

  /** The key's slot, its window open or not; -1: it has none. */
  find(key: Words): number {
    const k0 = key[0]!;
    const k1 = key[1]!;
    const k2 = key[2]!;
    const pages = this.#pages;
    for (let slot = this.home(k1); slot >>> PAGE_SHIFT < pages.length; slot++) {
      const page = pages[slot >>> PAGE_SHIFT]!;
      const at = (slot & IN_PAGE) * SLOT_WORDS;
      if (page[at + TAG] === 0) return -1;
      if (page[at] === k0 && page[at + 1] === k1 && page[at + 2] === k2) return slot;
    }
    return -1;
  }

  /** A free slot for a key with this hash, in a page of its own memory. The caller tags it. */
  take(hash: number): number {
    let slot = this.home(hash);
    while (this.page(slot)[this.word(slot) + TAG] !== 0) slot++;
    const number = slot >>> PAGE_SHIFT;
    if (number === this.#pages.length) this.#pages.push(NO_PAGE);
    if (this.#pages[number] === NO_PAGE) {
      this.#pages[number] = this.#pool.take();
      this.#firstClosing[number] = Infinity;
    }
    this.size++;
    return slot;
  }

  /** To be told each closing time that is set in a slot. */
  closing(slot: number, time: number): void {
    if (time < this.#firstClosing[slot >>> PAGE_SHIFT]!) this.#firstClosing[slot >>> PAGE_SHIFT] = time;
    if (time < this.#earliest) this.#earliest = time;
  }

  /** Frees a slot and moves up those behind it that it was in the way of, so that no gap hides a key. */
  remove(slot: number): void {
    let gap = slot;
    for (let next = slot + 1; ; next++) {
      const page = this.page(next);
      const at = this.word(next);
      if (page[at + TAG] === 0) break;
      if (this.home(page[at + 1]!) > gap) continue;
      this.#copy(page, at, gap);
      gap = next;
    }
    this.page(gap).fill(0, this.word(gap), this.word(gap) + SLOT_WORDS);
    this.size--;
  }

  /** Takes over a slot of another array. */
  adopt(from: Int32Array, at: number): void {
    this.#copy(from, at, this.take(from[at + 1]!));
  }

  /** Gives back the memory of pages that lie wholly before a slot. */
  drop(before: number): void {
    for (let number = (before >>> PAGE_SHIFT) - 1; number >= 0 && this.#pages[number] !== NO_PAGE; number--) {
      this.#pool.give(this.#pages[number]!);
      this.#pages[number] = NO_PAGE;
    }
  }

  /** Takes the closed windows out of the next page that has any. False: no page has. */
  sweepNextPage(now: number): boolean {
    if (now < this.#earliest) return false;
    for (let left = this.#pages.length; left > 0; left--) {
      this.#swept = (this.#swept + 1) % this.#pages.length;
      if (this.#firstClosing[this.#swept]! > now) continue;
      this.#sweepPage(this.#swept, now);
      return true;
    }
    this.#earliest = this.#firstClosing.reduce((a, b) => Math.min(a, b), Infinity);
    return false;
  }

  #sweepPage(number: number, now: number): void {
    this.#firstClosing[number] = Infinity;
    const page = this.#pages[number]!;
    for (let slot = number * PAGE_SLOTS; slot < (number + 1) * PAGE_SLOTS; slot++) {
      const at = this.word(slot);
      while (page[at + TAG] !== 0 && closesAt(page, at) <= now) this.remove(slot);
      if (page[at + TAG] !== 0) this.closing(slot, closesAt(page, at));
    }
  }

  #copy(from: Int32Array, at: number, slot: number): void {
    const page = this.page(slot);
    const to = this.word(slot);
    for (let word = 0; word < SLOT_WORDS; word++) page[to + word] = from[at + word]!;
    this.closing(slot, closesAt(page, to));
  }
}
