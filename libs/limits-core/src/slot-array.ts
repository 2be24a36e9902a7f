import type { Words } from './fingerprint.js';
import { NO_PAGE, PAGE_SHIFT, PAGE_SLOTS, PAGE_WORDS, type PagePool } from './page.js';
import { SLOT_WORDS, TAG, closesAt, copySlot } from './slot.js';

const IN_PAGE = PAGE_SLOTS - 1;
/** Slots that are swept at a time: few enough that nobody notices. */
const SWEPT_SHIFT = 9;
const SWEPT_SLOTS = 1 << SWEPT_SHIFT;

/**
 * Open addressing over pages of slots. A key's home is its hash scaled to the capacity, so homes keep their order
 * whatever the capacity is; a run of slots that reaches the end goes on behind it, it does not wrap.
 */
export class SlotArray {
  readonly capacity: number;
  size = 0;
  readonly #pool: PagePool;
  readonly #pages: Int32Array[];
  /** Slots to one step of the hash. */
  readonly #scale: number;
  /** For each piece of swept slots a time before which none of its windows closes. */
  readonly #firstClosing: number[];
  #swept = -1;
  /** None of its windows closes before. */
  #earliest = Infinity;

  constructor(capacity: number, pool: PagePool) {
    this.capacity = capacity;
    this.#scale = capacity / 2 ** 32;
    this.#pool = pool;
    this.#pages = new Array<Int32Array>(Math.ceil(capacity / PAGE_SLOTS)).fill(NO_PAGE);
    this.#firstClosing = new Array<number>(this.length / SWEPT_SLOTS).fill(Infinity);
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
    return ((hash >>> 0) * this.#scale) | 0;
  }

  /** The key's slot, its window open or not. Of a key that has none `~slot` of the free one where it would lie. */
  find(key: Words): number {
    const k0 = key[0]!;
    const k1 = key[1]!;
    const k2 = key[2]!;
    const pages = this.#pages;
    let slot = this.home(k1);
    for (let number = slot >>> PAGE_SHIFT; number < pages.length; number++) {
      const page = pages[number]!;
      for (let at = (slot & IN_PAGE) * SLOT_WORDS; at < PAGE_WORDS; at += SLOT_WORDS, slot++) {
        if (page[at + TAG] === 0) return ~slot;
        if (page[at] === k0 && page[at + 1] === k1 && page[at + 2] === k2) return slot;
      }
    }
    return ~slot;
  }

  /** Takes a free slot, in a page of its own memory. The caller fills and tags it. */
  take(slot: number): void {
    const number = slot >>> PAGE_SHIFT;
    if (number === this.#pages.length) this.#addPage();
    if (this.#pages[number] === NO_PAGE) this.#pages[number] = this.#pool.take();
    this.size++;
  }

  /** To be told each closing time that is set in a slot. */
  closing(slot: number, time: number): void {
    const piece = slot >>> SWEPT_SHIFT;
    if (time < this.#firstClosing[piece]!) this.#firstClosing[piece] = time;
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

  /**
   * Moves whole runs of slots into another array, so that no run lies in both, and leaves out windows that have closed.
   * @returns the slot to go on from: some `slots` behind `from`, an empty one, or the end.
   */
  moveRuns(from: number, slots: number, into: SlotArray, now: number): number {
    let slot = from;
    for (; slot < this.length; slot++) {
      const page = this.page(slot);
      const at = this.word(slot);
      if (page[at + TAG] === 0) {
        if (slot - from >= slots) break;
        continue;
      }
      if (closesAt(page, at) > now) into.#adopt(page, at);
      page[at + TAG] = 0;
      this.size--;
    }
    return slot;
  }

  #adopt(from: Int32Array, at: number): void {
    let slot = this.home(from[at + 1]!);
    while (this.page(slot)[this.word(slot) + TAG] !== 0) slot++;
    this.take(slot);
    this.#copy(from, at, slot);
  }

  /** Gives back the memory of pages that lie wholly before a slot. */
  drop(before: number): void {
    for (let number = (before >>> PAGE_SHIFT) - 1; number >= 0 && this.#pages[number] !== NO_PAGE; number--) {
      this.#pool.give(this.#pages[number]!);
      this.#pages[number] = NO_PAGE;
    }
  }

  /** Takes the closed windows out of the next piece that has any. False: none has. */
  sweepNext(now: number): boolean {
    if (now < this.#earliest) return false;
    for (let left = this.#firstClosing.length; left > 0; left--) {
      this.#swept = (this.#swept + 1) % this.#firstClosing.length;
      if (this.#firstClosing[this.#swept]! > now) continue;
      this.#sweep(this.#swept, now);
      return true;
    }
    this.#earliest = this.#firstClosing.reduce((a, b) => Math.min(a, b), Infinity);
    return false;
  }

  #sweep(piece: number, now: number): void {
    this.#firstClosing[piece] = Infinity;
    const from = piece * SWEPT_SLOTS;
    const page = this.page(from);
    for (let slot = from; slot < from + SWEPT_SLOTS; slot++) {
      const at = this.word(slot);
      while (page[at + TAG] !== 0 && closesAt(page, at) <= now) this.remove(slot);
      if (page[at + TAG] !== 0) this.closing(slot, closesAt(page, at));
    }
  }

  #addPage(): void {
    this.#pages.push(NO_PAGE);
    for (let slot = 0; slot < PAGE_SLOTS; slot += SWEPT_SLOTS) this.#firstClosing.push(Infinity);
  }

  #copy(from: Int32Array, at: number, slot: number): void {
    const page = this.page(slot);
    const to = this.word(slot);
    copySlot(from, at, page, to);
    this.closing(slot, closesAt(page, to));
  }
}
