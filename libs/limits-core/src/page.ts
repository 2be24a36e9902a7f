import { SLOT_WORDS } from './slot.js';

/** Slots come in pages of 96 KiB, so that memory is taken, given back and reused in small equal pieces. */
export const PAGE_SHIFT = 12;
export const PAGE_SLOTS = 1 << PAGE_SHIFT;
export const PAGE_WORDS = PAGE_SLOTS * SLOT_WORDS;
export const PAGE_BYTES = PAGE_WORDS * 4;

/** Stands where no page has been needed yet: reads as free slots, and is never written. */
export const NO_PAGE = new Int32Array(PAGE_WORDS);

const MOST_SPARE = 1;

/** Pages given back are used again: growing leaves nothing for the garbage collector to pick up. */
export class PagePool {
  readonly #spare: Int32Array[] = [];
  /** Pages in use or spare. */
  pages = 0;

  take(): Int32Array {
    const page = this.#spare.pop();
    if (page) return page;
    this.pages++;
    return new Int32Array(PAGE_WORDS);
  }

  give(page: Int32Array): void {
    if (page === NO_PAGE) return;
    if (this.#spare.length < MOST_SPARE) this.#spare.push(page.fill(0));
    else this.pages--;
  }
}
