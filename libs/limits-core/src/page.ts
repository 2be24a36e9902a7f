import { SLOT_WORDS } from './slot.js';

/** Slots are allocated in pages of 96 KiB, so that memory is taken, freed and reused in small equal pieces. */
export const PAGE_SHIFT = 12;
export const PAGE_SLOTS = 1 << PAGE_SHIFT;
export const PAGE_WORDS = PAGE_SLOTS * SLOT_WORDS;
export const PAGE_BYTES = PAGE_WORDS * 4;

/** Placeholder for a page that was never needed: reads as free slots and is never written. */
export const NO_PAGE = new Int32Array(PAGE_WORDS);

const MAX_SPARE_PAGES = 1;

/** Reuses freed pages, so that growing leaves no garbage. */
export class PagePool {
  private readonly spare: Int32Array[] = [];
  /** Pages in use or spare. */
  pages = 0;

  acquire(): Int32Array {
    const page = this.spare.pop();
    if (page) return page;
    this.pages++;
    return new Int32Array(PAGE_WORDS);
  }

  release(page: Int32Array): void {
    if (page === NO_PAGE) return;
    if (this.spare.length < MAX_SPARE_PAGES) this.spare.push(page.fill(0));
    else this.pages--;
  }
}
