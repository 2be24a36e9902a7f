import type { Words } from './fingerprint.js';
import { NO_PAGE, PAGE_BYTES, PAGE_SLOTS, PagePool } from './page.js';
import { SlotArray } from './slot-array.js';
import { closesAt } from './slot.js';
import { findVictim } from './victim.js';

const SMALLEST = PAGE_SLOTS;
const FULLEST = 0.7;
const GROWTH = 1.8;
/** New keys from one piece of upkeep to the next. */
const UPKEEP_EVERY = 16;
/** Slots that a piece of upkeep moves into the next array: enough to be done long before that one is full. */
const MOVED_AT_ONCE = 16 * UPKEEP_EVERY;
/** Pieces of upkeep for each piece that is swept of closed windows: few enough that sweeping overtakes growing. */
const TIMES_PER_SWEEP = 4;
/** Pieces that one new key sweeps at most when the table is full. */
const MOST_SWEPT_AT_ONCE = 8;

/**
 * A table of slots that grows and shrinks a few slots at a time. While it does there are two arrays: what lay before
 * `#moved` is in the next one, the rest still in the present one. Homes keep their order, so the next one fills from its
 * start while the present one empties from its own, and the pages that one gives back serve the other.
 */
export class SlotTable {
  /** Keys that gave way to others although their window was open. */
  evicted = 0;
  /** Where the last slot found or made lies: its array, its number in it, its page. */
  array: SlotArray;
  slot = 0;
  page: Int32Array = NO_PAGE;
  readonly #pool = new PagePool();
  readonly #most: number;
  readonly #limits: Float64Array;
  #present: SlotArray;
  #next: SlotArray | undefined;
  #moved = 0;
  #hand = 0;
  #upkeeps = 0;
  /** New keys since the last piece of upkeep. It is done before the next key is looked for, since it moves slots. */
  #newKeys = 0;

  /** @param limits the limit of each rate by its index, shared with whoever changes them. */
  constructor(maxKeys: number, limits: Float64Array) {
    this.#most = Math.ceil(maxKeys / FULLEST);
    this.#limits = limits;
    this.#present = new SlotArray(Math.min(SMALLEST, this.#most), this.#pool);
    this.array = this.#present;
  }

  get size(): number {
    return this.#present.size + (this.#next?.size ?? 0);
  }

  get bytes(): number {
    return this.#pool.pages * PAGE_BYTES;
  }

  /** The slots' most bytes: a full table, and some pages that are spare, begun or behind the end. */
  get mostBytes(): number {
    return (Math.ceil(this.#most / PAGE_SLOTS) + 8) * PAGE_BYTES;
  }

  /** The first word in `page` of the key's slot if its window is open, else -1; a closed one is taken out. */
  find(key: Words, now: number): number {
    if (this.#newKeys >= UPKEEP_EVERY) this.#tidy(now);
    const array = this.#arrayOf(key[1]!);
    this.array = array;
    this.slot = array.find(key);
    if (this.slot < 0) return -1;
    this.page = array.page(this.slot);
    const at = array.word(this.slot);
    if (closesAt(this.page, at) > now) return at;
    array.remove(this.slot);
    this.slot = array.find(key);
    return -1;
  }

  /**
   * Makes a slot for the key that `find` has just not found, and says its first word in `page`. It is filled but for its
   * counts, its closing time and its tag. Closed windows give way first, then a key far from its limit; -1 when every
   * key must stay.
   */
  insert(key: Words, now: number): number {
    if (!this.#next && this.#present.size + 1 > this.#present.capacity * FULLEST) {
      if (!this.#makeRoom(now)) return -1;
      this.slot = this.array.find(key);
    }
    this.slot = ~this.slot;
    this.array.take(this.slot);
    this.page = this.array.page(this.slot);
    const at = this.array.word(this.slot);
    this.page[at] = key[0]!;
    this.page[at + 1] = key[1]!;
    this.page[at + 2] = key[2]!;
    this.#newKeys++;
    return at;
  }

  remove(): void {
    this.array.remove(this.slot);
  }

  /** Does some upkeep without a new key: what that many new keys would have done. */
  upkeep(keys: number, now: number): void {
    for (let left = keys; left > 0; left -= UPKEEP_EVERY) {
      this.#tidy(now);
      const { size, capacity } = this.#present;
      if (!this.#next && capacity > SMALLEST && size < (capacity * FULLEST) / 4) this.#resize(Math.ceil(capacity / 2));
    }
  }

  clear(): void {
    this.#next?.drop(this.#next.length);
    this.#next = undefined;
    this.#present.drop(this.#present.length);
    this.#present = new SlotArray(Math.min(SMALLEST, this.#most), this.#pool);
    this.#hand = 0;
  }

  /** Each slot in use, page by page, also those that move while somebody looks. */
  *pages(): Generator<Int32Array> {
    const seen = new Set<SlotArray>();
    for (;;) {
      // Slots only ever move on into the next array, so whoever looks there last has seen them all, some twice.
      const array = [this.#present, this.#next].find((one) => one && !seen.has(one));
      if (!array) return;
      seen.add(array);
      for (let slot = 0; slot < array.length; slot += PAGE_SLOTS) yield array.page(slot);
    }
  }

  #tidy(now: number): void {
    this.#newKeys = 0;
    if (this.#next) this.#move(this.#next, now);
    else if (++this.#upkeeps % TIMES_PER_SWEEP === 0) this.#present.sweepNext(now);
  }

  #move(next: SlotArray, now: number): void {
    const present = this.#present;
    this.#moved = present.moveRuns(this.#moved, MOVED_AT_ONCE, next, now);
    present.drop(this.#moved);
    if (this.#moved < present.length) return;
    this.#present = next;
    this.#next = undefined;
    this.#hand = 0;
  }

  #makeRoom(now: number): boolean {
    const present = this.#present;
    if (present.capacity < this.#most) {
      this.#resize(Math.min(this.#most, Math.ceil(present.capacity * GROWTH)));
      return true;
    }
    for (let left = MOST_SWEPT_AT_ONCE; left > 0 && present.sweepNext(now); left--) {
      if (present.size + 1 <= present.capacity * FULLEST) return true;
    }
    const victim = findVictim(present, this.#hand, this.#limits);
    if (victim === -1) return false;
    // On from here next time: evicting from one place only would leave a hole there and crowd the rest.
    this.#hand = victim + 1;
    present.remove(victim);
    this.evicted++;
    return true;
  }

  #resize(capacity: number): void {
    this.#next = new SlotArray(Math.min(this.#most, Math.max(SMALLEST, capacity)), this.#pool);
    this.#moved = 0;
  }

  #arrayOf(hash: number): SlotArray {
    return this.#next && this.#present.home(hash) < this.#moved ? this.#next : this.#present;
  }
}
