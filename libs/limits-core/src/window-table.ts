import type { Words } from './fingerprint.js';
import { MOST_OVERFLOW_BYTES, Overflow } from './overflow.js';
import { SlotTable } from './slot-table.js';
import { MOST_RATES, OPENINGS, TAG, setClosesAt, tagOf, used } from './slot.js';

/** What a table of windows takes and has had to do. */
export interface TableStats {
  readonly keys: number;
  /** Memory of the slots now, and the most it can become. */
  readonly bytes: number;
  readonly mostBytes: number;
  /** Keys with an open window, below their limit, that gave way to others. */
  readonly evicted: number;
  /** Windows opened in a coarse shared bucket. */
  readonly shared: number;
}

/** All windows of all rates, within a memory bound. A position is good until the next `find`, `open` or `close`. */
export class WindowTable {
  readonly limits = new Float64Array(MOST_RATES);
  readonly overflow = new Overflow();
  /** The memory that the last position points into. */
  slots: Int32Array = new Int32Array(0);
  /** The last position lies in a bucket that keys share. */
  shared = false;
  readonly #own: SlotTable;
  #openings = 0;

  constructor(maxKeys: number) {
    this.#own = new SlotTable(maxKeys, this.limits);
  }

  /** The position of the key's open window; -1: none is open. */
  find(rate: number, key: Words, now: number): number {
    const at = this.findOwn(key, now);
    return at === -1 ? this.findShared(rate, key, now) : at;
  }

  findOwn(key: Words, now: number): number {
    const at = this.#own.find(key, now);
    return at === -1 ? -1 : this.#atOwn(at);
  }

  findShared(rate: number, key: Words, now: number): number {
    const at = this.overflow.find(rate, key, now);
    return at === -1 ? -1 : this.#atShared(at);
  }

  /** Opens a window for the key that `find` has just not found. Its counts are 0; the caller sets when it closes. */
  open(rate: number, key: Words, now: number): number {
    const at = this.#own.insert(key, now);
    return at === -1 ? this.openShared(rate, key) : this.#tag(rate, this.#atOwn(at));
  }

  openShared(rate: number, key: Words): number {
    return this.#tag(rate, this.#atShared(this.overflow.open(rate, key)));
  }

  setClosing(at: number, time: number): void {
    setClosesAt(this.slots, at, time);
    if (this.shared) this.overflow.closing(time);
    else this.#own.array.closing(this.#own.slot, time);
  }

  close(at: number): void {
    if (this.shared) this.overflow.remove(at);
    else this.#own.remove();
  }

  /** Closes the window when nothing counts in it any more. */
  closeIfUnused(at: number): void {
    if (used(this.slots, at) === 0) this.close(at);
  }

  upkeep(keys: number, now: number): void {
    this.#own.upkeep(keys, now);
  }

  clear(): void {
    this.#own.clear();
    this.overflow.clear();
  }

  /** All memory that may hold windows, in pieces. */
  *pages(): Generator<Int32Array> {
    yield* this.#own.pages();
    yield this.overflow.slots;
  }

  stats(): TableStats {
    return {
      keys: this.#own.size,
      bytes: this.#own.bytes + this.overflow.slots.byteLength,
      mostBytes: this.#own.mostBytes + MOST_OVERFLOW_BYTES,
      evicted: this.#own.evicted,
      shared: this.overflow.opened,
    };
  }

  #tag(rate: number, at: number): number {
    this.#openings = (this.#openings + 1) % OPENINGS;
    this.slots[at + TAG] = tagOf(rate, this.#openings);
    return at;
  }

  #atOwn(at: number): number {
    this.shared = false;
    this.slots = this.#own.page;
    return at;
  }

  #atShared(at: number): number {
    this.shared = true;
    this.slots = this.overflow.slots;
    return at;
  }
}
