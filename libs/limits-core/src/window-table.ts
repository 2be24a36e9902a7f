import type { Words } from './fingerprint.js';
import { MOST_OVERFLOW_BYTES, Overflow } from './overflow.js';
import { FULLEST, Segment } from './segment.js';
import { CLOSES, COUNTED, IN_FLIGHT, MOST_RATES, SLOT_BYTES, TAG, closesIn, tagOf } from './slot.js';

const KEYS_PER_SEGMENT = 1024;
const OPENINGS = 2 ** 24;

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

/** All windows of all rates, within a memory bound. A position is only good until the next `open`, `find` or `close`. */
export class WindowTable {
  readonly limits = new Float64Array(MOST_RATES);
  readonly segments: readonly Segment[];
  readonly overflow = new Overflow();
  /** The memory that the last position points into. */
  slots = new Int32Array(0);
  #owner: Segment | Overflow = this.overflow;
  #openings = 0;
  readonly #mask: number;
  readonly #mostSlots: number;

  constructor(maxKeys: number) {
    const count = 2 ** Math.max(0, Math.ceil(Math.log2(maxKeys / KEYS_PER_SEGMENT)));
    const mean = maxKeys / count;
    // Keys fall on segments by chance: four standard deviations more than the mean, so that a full table evicts no early.
    const most = Math.ceil(count === 1 ? mean : mean + 4 * Math.sqrt(mean));
    this.#mostSlots = Math.ceil(most / FULLEST);
    this.#mask = count - 1;
    this.segments = Array.from({ length: count }, () => new Segment(this.#mostSlots, this.limits));
  }

  get shared(): boolean {
    return this.#owner === this.overflow;
  }

  /** The position of the key's open window; -1: none is open. */
  find(rate: number, key: Words, now: number): number {
    const at = this.findOwn(key, now);
    return at === -1 ? this.findShared(rate, key, now) : at;
  }

  findOwn(key: Words, now: number): number {
    const segment = this.#segment(key);
    const at = segment.find(key, now);
    if (at === -1) return -1;
    if (closesIn(segment.slots, at, now) > 0) return this.#at(segment, at);
    segment.remove(at);
    return -1;
  }

  findShared(rate: number, key: Words, now: number): number {
    const at = this.overflow.find(rate, key, now);
    return at === -1 ? -1 : this.#at(this.overflow, at);
  }

  /** Opens a window for a key that `find` has not found. Its counts are 0; the caller sets when it closes. */
  open(rate: number, key: Words, now: number): number {
    const segment = this.#segment(key);
    const at = segment.insert(key, now);
    return at === -1 ? this.openShared(rate, key) : this.#tag(rate, this.#at(segment, at));
  }

  openShared(rate: number, key: Words): number {
    const at = this.overflow.open(rate, key);
    return this.#tag(rate, this.#at(this.overflow, at));
  }

  setClosing(at: number, time: number): void {
    this.slots[at + CLOSES] = time;
    this.#owner.closing(time);
  }

  close(at: number): void {
    this.#owner.remove(at);
  }

  /** Closes the window when nothing counts in it any more. */
  closeIfUnused(at: number): void {
    if (this.slots[at + COUNTED] === 0 && this.slots[at + IN_FLIGHT] === 0) this.close(at);
  }

  clear(): void {
    for (const segment of this.segments) segment.clear();
    this.overflow.clear();
  }

  stats(): TableStats {
    let [keys, slots, evicted] = [0, 0, 0];
    for (const segment of this.segments) {
      keys += segment.size;
      slots += segment.capacity;
      evicted += segment.evicted;
    }
    const bytes = slots * SLOT_BYTES + this.overflow.slots.byteLength;
    const mostBytes = this.segments.length * this.#mostSlots * SLOT_BYTES + MOST_OVERFLOW_BYTES;
    return { keys, bytes, mostBytes, evicted, shared: this.overflow.opened };
  }

  #segment(key: Words): Segment {
    return this.segments[key[0]! & this.#mask]!;
  }

  #tag(rate: number, at: number): number {
    this.#openings = (this.#openings + 1) % OPENINGS;
    this.slots[at + TAG] = tagOf(rate, this.#openings);
    return at;
  }

  #at(owner: Segment | Overflow, at: number): number {
    this.#owner = owner;
    this.slots = owner.slots;
    return at;
  }
}
