import { findVictim, type Terms } from './eviction.js';
import type { HashWords } from './fingerprint.js';
import { NO_PAGE, PAGE_BYTES, PAGE_SLOTS, PagePool } from './page.js';
import { SlotArray } from './slot-array.js';
import { closesAt } from './slot.js';

const MIN_CAPACITY = PAGE_SLOTS;
const MAX_LOAD = 0.62;
const GROWTH_FACTOR = 1.6;
/** New keys between two maintenance steps. */
const MAINTENANCE_INTERVAL = 16;
/** Slots that one maintenance step moves to the next array: enough to finish long before that one is full. */
const SLOTS_PER_MOVE = 16 * MAINTENANCE_INTERVAL;
/** Maintenance steps per swept section: few enough that sweeping keeps ahead of growth. */
const STEPS_PER_SWEEP = 4;
/** Sections that one new key sweeps at most when the table is full. */
const MAX_SECTIONS_PER_INSERT = 8;

/**
 * A table of slots that grows and shrinks incrementally. While it does, there are two arrays: slots before `moved` are
 * in the next one, all others still in the current one. Homes keep their order, so the next array fills from its start
 * while the current one empties from its own, and pages freed by one are reused by the other.
 */
export class SlotTable {
  /** Keys evicted although their window was open. */
  evicted = 0;
  /** The location of the last slot found or inserted: its array, its number there, its page. */
  array: SlotArray;
  slot = 0;
  page: Int32Array = NO_PAGE;
  private readonly pool = new PagePool();
  private readonly maxCapacity: number;
  private readonly terms: Terms;
  private current: SlotArray;
  private next: SlotArray | undefined;
  private moved = 0;
  private clockHand = 0;
  private steps = 0;
  /** New keys since the last maintenance step, which runs before the next lookup because it moves slots. */
  private newKeys = 0;

  /** @param terms of each rate by index, shared with the table's owner, who changes them. */
  constructor(maxKeys: number, terms: Terms) {
    this.maxCapacity = Math.ceil(maxKeys / MAX_LOAD);
    this.terms = terms;
    this.current = new SlotArray(Math.min(MIN_CAPACITY, this.maxCapacity), this.pool);
    this.array = this.current;
  }

  get size(): number {
    return this.current.size + (this.next?.size ?? 0);
  }

  get bytes(): number {
    return this.pool.pages * PAGE_BYTES;
  }

  /** The upper bound of `bytes`: a full table, plus pages that are spare, partly used or beyond the capacity. */
  get maxBytes(): number {
    return (Math.ceil(this.maxCapacity / PAGE_SLOTS) + 8) * PAGE_BYTES;
  }

  /** The offset in `page` of the key's slot if its window is open, else -1. Removes a closed window. */
  find(key: HashWords, now: number): number {
    if (this.newKeys >= MAINTENANCE_INTERVAL) this.runMaintenanceStep(now);
    const array = this.arrayOf(key[1]!);
    this.array = array;
    this.slot = array.find(key);
    if (this.slot < 0) return -1;
    this.page = array.page(this.slot);
    const at = array.wordOf(this.slot);
    if (closesAt(this.page, at) > now) return at;
    array.remove(this.slot);
    this.slot = array.find(key);
    return -1;
  }

  /**
   * Inserts the key that `find` has just not found, and returns its slot's offset in `page`. The caller sets its
   * counts, closing time and tag. A full table first removes closed windows, then evicts a key far from its limit; -1
   * if no key may be evicted.
   */
  insert(key: HashWords, now: number): number {
    if (!this.next && this.current.size + 1 > this.current.capacity * MAX_LOAD) {
      if (!this.makeRoom(now)) return -1;
      this.slot = this.array.find(key);
    }
    this.slot = ~this.slot;
    this.array.allocate(this.slot);
    this.page = this.array.page(this.slot);
    const at = this.array.wordOf(this.slot);
    this.page[at] = key[0]!;
    this.page[at + 1] = key[1]!;
    this.page[at + 2] = key[2]!;
    this.newKeys++;
    return at;
  }

  remove(): void {
    this.array.remove(this.slot);
  }

  /** Does the maintenance that so many new keys would have done. */
  maintain(keys: number, now: number): void {
    for (let left = keys; left > 0; left -= MAINTENANCE_INTERVAL) {
      this.runMaintenanceStep(now);
      const { size, capacity } = this.current;
      if (!this.next && capacity > MIN_CAPACITY && size < (capacity * MAX_LOAD) / 4) {
        this.resize(Math.ceil(capacity / 2));
      }
    }
  }

  clear(): void {
    this.next?.freePages(this.next.length);
    this.next = undefined;
    this.current.freePages(this.current.length);
    this.current = new SlotArray(Math.min(MIN_CAPACITY, this.maxCapacity), this.pool);
    this.clockHand = 0;
  }

  /** Every slot in use, page by page, including slots that move during the iteration. */
  *pages(): Generator<Int32Array> {
    const seen = new Set<SlotArray>();
    for (;;) {
      // Slots only move on to the next array, so reading that one last sees every slot, some of them twice.
      const array = [this.current, this.next].find((one) => one && !seen.has(one));
      if (!array) return;
      seen.add(array);
      for (let slot = 0; slot < array.length; slot += PAGE_SLOTS) yield array.page(slot);
    }
  }

  private runMaintenanceStep(now: number): void {
    this.newKeys = 0;
    if (this.next) this.move(this.next, now);
    else if (++this.steps % STEPS_PER_SWEEP === 0) this.current.sweepNext(now);
  }

  private move(next: SlotArray, now: number): void {
    const current = this.current;
    this.moved = current.moveRuns(this.moved, SLOTS_PER_MOVE, next, now);
    current.freePages(this.moved);
    if (this.moved < current.length) return;
    this.current = next;
    this.next = undefined;
    this.clockHand = 0;
  }

  private makeRoom(now: number): boolean {
    const current = this.current;
    if (current.capacity < this.maxCapacity) {
      this.resize(Math.min(this.maxCapacity, Math.ceil(current.capacity * GROWTH_FACTOR)));
      return true;
    }
    for (let left = MAX_SECTIONS_PER_INSERT; left > 0 && current.sweepNext(now); left--) {
      if (current.size + 1 <= current.capacity * MAX_LOAD) return true;
    }
    const victim = findVictim(current, this.clockHand, this.terms, now);
    if (victim === -1) return false;
    // Continue from here next time: evicting from one place only would leave a hole there and crowd the rest.
    this.clockHand = victim + 1;
    current.remove(victim);
    this.evicted++;
    return true;
  }

  private resize(capacity: number): void {
    this.next = new SlotArray(Math.min(this.maxCapacity, Math.max(MIN_CAPACITY, capacity)), this.pool);
    this.moved = 0;
  }

  private arrayOf(hash: number): SlotArray {
    return this.next && this.current.home(hash) < this.moved ? this.next : this.current;
  }
}
