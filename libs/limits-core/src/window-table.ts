import type { HashWords } from './fingerprint.js';
import { MAX_OVERFLOW_BYTES, OverflowBuckets } from './overflow-buckets.js';
import { SlotTable } from './slot-table.js';
import { GENERATIONS, MAX_RATES, TAG, setClosesAt, tagOf, used } from './slot.js';

/** Size and history of a table of windows. */
export interface TableStats {
  readonly keys: number;
  /** Memory of the slots now, and its upper bound. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Keys evicted with an open window, below their limit. */
  readonly evicted: number;
  /** Windows opened in a coarse shared bucket. */
  readonly shared: number;
}

/** All windows of all rates, in bounded memory. A position is valid until the next `find`, `open` or `close`. */
export class WindowTable {
  readonly limits = new Float64Array(MAX_RATES);
  /** The window of each gcra rate; 0 for the others. */
  readonly gcraWindows = new Float64Array(MAX_RATES);
  readonly overflow = new OverflowBuckets();
  /** The memory that the last position refers to. */
  slots: Int32Array = new Int32Array(0);
  /** Whether the last position is in a shared bucket. */
  shared = false;
  private readonly own: SlotTable;
  private generation = 0;

  constructor(maxKeys: number) {
    this.own = new SlotTable(maxKeys, this);
  }

  /** The position of the key's open window; -1 if none is open. */
  find(rate: number, key: HashWords, now: number): number {
    const at = this.findOwn(key, now);
    return at === -1 ? this.findShared(rate, key, now) : at;
  }

  findOwn(key: HashWords, now: number): number {
    const at = this.own.find(key, now);
    return at === -1 ? -1 : this.selectOwn(at);
  }

  findShared(rate: number, key: HashWords, now: number): number {
    const at = this.overflow.find(rate, key, now);
    return at === -1 ? -1 : this.selectShared(at);
  }

  /** Opens a window with zero counts for the key that `find` has just not found. The caller sets when it closes. */
  open(rate: number, key: HashWords, now: number): number {
    const at = this.own.insert(key, now);
    return at === -1 ? this.openShared(rate, key) : this.tag(rate, this.selectOwn(at));
  }

  openShared(rate: number, key: HashWords): number {
    return this.tag(rate, this.selectShared(this.overflow.open(rate, key)));
  }

  setClosing(at: number, time: number): void {
    setClosesAt(this.slots, at, time);
    if (this.shared) this.overflow.noteClosing(time);
    else this.own.array.noteClosing(this.own.slot, time);
  }

  close(at: number): void {
    if (this.shared) this.overflow.remove(at);
    else this.own.remove();
  }

  /** Closes a window without events. */
  closeIfUnused(at: number): void {
    if (used(this.slots, at) === 0) this.close(at);
  }

  maintain(keys: number, now: number): void {
    this.own.maintain(keys, now);
  }

  clear(): void {
    this.own.clear();
    this.overflow.clear();
  }

  /** All memory that may hold windows, in pieces. */
  *pages(): Generator<Int32Array> {
    yield* this.own.pages();
    yield this.overflow.slots;
  }

  stats(): TableStats {
    return {
      keys: this.own.size,
      bytes: this.own.bytes + this.overflow.slots.byteLength,
      maxBytes: this.own.maxBytes + MAX_OVERFLOW_BYTES,
      evicted: this.own.evicted,
      shared: this.overflow.opened,
    };
  }

  private tag(rate: number, at: number): number {
    this.generation = (this.generation + 1) % GENERATIONS;
    this.slots[at + TAG] = tagOf(rate, this.generation);
    return at;
  }

  private selectOwn(at: number): number {
    this.shared = false;
    this.slots = this.own.page;
    return at;
  }

  private selectShared(at: number): number {
    this.shared = true;
    this.slots = this.overflow.slots;
    return at;
  }
}
