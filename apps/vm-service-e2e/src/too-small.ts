import type { Page } from 'playwright-core';

/** What a finger needs, in pixels. */
const FINGER = 44;

/**
 * The controls of the page that are too small for a finger, with their sizes. The label of a box counts with it, and so
 * does the part of a card or row that an overlay of its button covers. Links in running text are as high as their line.
 */
export const tooSmall = (page: Page): Promise<string[]> =>
  page.evaluate((least) => {
    const problems: string[] = [];
    const isClipped = (control: Element): boolean => {
      for (let one: Element | null = control; one; one = one.parentElement)
        if (getComputedStyle(one).clipPath !== 'none') return true;
      return false;
    };
    const controls = 'a[href], button, input, select, textarea, summary, [role="tab"], [role="treeitem"]';
    for (const control of document.querySelectorAll<HTMLElement>(
      `:is(main, .hg-side-panel, dialog, .hg-panel, .hg-drawer) :is(${controls}), .hg-banners :is(a, button)`,
    )) {
      if (control.closest('.hg-hidden, thead, p') || isClipped(control)) continue;
      // A tap on a card opens it, and one on a label or on the cell of a box is for the box.
      const whole = control.matches('.hg-row a') ? '.hg-row' : 'label, .hg-row .hg-cell--select, [role="treeitem"]';
      const target = control.closest(whole) ?? control;
      const { width, height } = target.getBoundingClientRect();
      if (width === 0 || height === 0) continue;
      if (Math.round(width) >= least && Math.round(height) >= least) continue;
      const name = control.getAttribute('aria-label') ?? control.textContent?.trim().slice(0, 40) ?? '';
      problems.push(`${Math.round(width)} × ${Math.round(height)}: ${control.tagName}.${control.className}: ${name}`);
    }
    return problems;
  }, FINGER);
