import type { HashWords } from './fingerprint.js';
import { NO_PAGE, PAGE_SHIFT, PAGE_SLOTS, PAGE_WORDS, type PagePool } from './page.js';
import { SLOT_WORDS, TAG, closesAt, copySlot } from './slot.js';

const PAGE_MASK = PAGE_SLOTS - 1;
/** Slots are swept of closed windows one section at a time, small enough not to cause a noticeable pause. */
const SECTION_SHIFT = 9;
const SECTION_SLOTS = 1 << SECTION_SHIFT;

/**
 * Open addressing over pages of slots. A key's home slot is its hash scaled to the capacity, so homes keep their order
 * whatever the capacity. A run of slots that reaches the end continues beyond the capacity instead of wrapping around.
 */
export class SlotArray {
  readonly capacity: number;
  size = 0;
  private readonly pool: PagePool;
  private readonly pages: Int32Array[];
  /** Slots per unit of the hash. */
  private readonly scale: number;
  /** For each section, a lower bound of the times at which its windows close. */
  private readonly sectionClosings: number[];
  private lastSwept = -1;
  /** A lower bound of the times at which any window closes. */
  private earliestClosing = Infinity;

  constructor(capacity: number, pool: PagePool) {
    this.capacity = capacity;
    this.scale = capacity / 2 ** 32;
    this.pool = pool;
    this.pages = new Array<Int32Array>(Math.ceil(capacity / PAGE_SLOTS)).fill(NO_PAGE);
    this.sectionClosings = new Array<number>(this.length / SECTION_SLOTS).fill(Infinity);
  }

  /** Slots, including those beyond the capacity. */
  get length(): number {
    return this.pages.length * PAGE_SLOTS;
  }

  /** The page of a slot. `wordOf` gives the offset of the slot in it. */
  page(slot: number): Int32Array {
    return this.pages[slot >>> PAGE_SHIFT] ?? NO_PAGE;
  }

  wordOf(slot: number): number {
    return (slot & PAGE_MASK) * SLOT_WORDS;
  }

  home(hash: number): number {
    return ((hash >>> 0) * this.scale) | 0;
  }

  /**
   * The key's slot, whether its window is open or not. For an unknown key, `~slot` of the free slot where it belongs.
   */
  find(key: HashWords): number {
    const k0 = key[0]!;
    const k1 = key[1]!;
    const k2 = key[2]!;
    const pages = this.pages;
    let slot = this.home(k1);
    for (let number = slot >>> PAGE_SHIFT; number < pages.length; number++) {
      const page = pages[number]!;
      for (let at = (slot & PAGE_MASK) * SLOT_WORDS; at < PAGE_WORDS; at += SLOT_WORDS, slot++) {
        if (page[at + TAG] === 0) return ~slot;
        if (page[at] === k0 && page[at + 1] === k1 && page[at + 2] === k2) return slot;
      }
    }
    return ~slot;
  }

  /** Allocates a free slot and its page. The caller fills and tags it. */
  allocate(slot: number): void {
    const number = slot >>> PAGE_SHIFT;
    if (number === this.pages.length) this.addPage();
    if (this.pages[number] === NO_PAGE) this.pages[number] = this.pool.acquire();
    this.size++;
  }

  /** Must be called with each closing time written to a slot. */
  noteClosing(slot: number, time: number): void {
    const section = slot >>> SECTION_SHIFT;
    if (time < this.sectionClosings[section]!) this.sectionClosings[section] = time;
    if (time < this.earliestClosing) this.earliestClosing = time;
  }

  /** Frees a slot and moves up later slots of its run, so that no gap hides a key. */
  remove(slot: number): void {
    let gap = slot;
    for (let next = slot + 1; ; next++) {
      const page = this.page(next);
      const at = this.wordOf(next);
      if (page[at + TAG] === 0) break;
      if (this.home(page[at + 1]!) > gap) continue;
      this.copy(page, at, gap);
      gap = next;
    }
    this.page(gap).fill(0, this.wordOf(gap), this.wordOf(gap) + SLOT_WORDS);
    this.size--;
  }

  /**
   * Moves whole runs of slots into another array, so that no run is in both, and drops closed windows.
   * @returns the slot to continue from: a free one at least `slots` after `from`, or the end
   */
  moveRuns(from: number, slots: number, into: SlotArray, now: number): number {
    let slot = from;
    for (; slot < this.length; slot++) {
      const page = this.page(slot);
      const at = this.wordOf(slot);
      if (page[at + TAG] === 0) {
        if (slot - from >= slots) break;
        continue;
      }
      if (closesAt(page, at) > now) into.insertCopy(page, at);
      page[at + TAG] = 0;
      this.size--;
    }
    return slot;
  }

  /** Frees the memory of pages that end before a slot. */
  freePages(before: number): void {
    for (let number = (before >>> PAGE_SHIFT) - 1; number >= 0 && this.pages[number] !== NO_PAGE; number--) {
      this.pool.release(this.pages[number]!);
      this.pages[number] = NO_PAGE;
    }
  }

  /** Removes the closed windows of the next section that has any. Returns false if there is none. */
  sweepNext(now: number): boolean {
    if (now < this.earliestClosing) return false;
    for (let left = this.sectionClosings.length; left > 0; left--) {
      this.lastSwept = (this.lastSwept + 1) % this.sectionClosings.length;
      if (this.sectionClosings[this.lastSwept]! > now) continue;
      this.sweep(this.lastSwept, now);
      return true;
    }
    this.earliestClosing = this.sectionClosings.reduce((a, b) => Math.min(a, b), Infinity);
    return false;
  }

  private insertCopy(from: Int32Array, at: number): void {
    let slot = this.home(from[at + 1]!);
    while (this.page(slot)[this.wordOf(slot) + TAG] !== 0) slot++;
    this.allocate(slot);
    this.copy(from, at, slot);
  }

  private sweep(section: number, now: number): void {
    this.sectionClosings[section] = Infinity;
    const from = section * SECTION_SLOTS;
    const page = this.page(from);
    for (let slot = from; slot < from + SECTION_SLOTS; slot++) {
      const at = this.wordOf(slot);
      while (page[at + TAG] !== 0 && closesAt(page, at) <= now) this.remove(slot);
      if (page[at + TAG] !== 0) this.noteClosing(slot, closesAt(page, at));
    }
  }

  private addPage(): void {
    this.pages.push(NO_PAGE);
    for (let slot = 0; slot < PAGE_SLOTS; slot += SECTION_SLOTS) this.sectionClosings.push(Infinity);
  }

  private copy(from: Int32Array, at: number, slot: number): void {
    const page = this.page(slot);
    const to = this.wordOf(slot);
    copySlot(from, at, page, to);
    this.noteClosing(slot, closesAt(page, to));
  }
}
