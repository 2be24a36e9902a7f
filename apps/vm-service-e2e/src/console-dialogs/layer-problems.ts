import type { Page } from 'playwright-core';

/**
 * The problems in the layout of a dialog, panel or menu: parts beyond the window or beyond a frame, and controls
 * that can't be scrolled to a place where they can be clicked. Names that are cut with an ellipsis are no problem.
 */
export const layerProblems = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate((layerSelector) => {
    const problems = new Set<string>();
    const layer = [...document.querySelectorAll<HTMLElement>(layerSelector)].find((one) => one.checkVisibility());
    if (!layer) return ['it has closed'];
    const nameOf = (element: Element): string =>
      `${element.tagName}.${element.getAttribute('class') ?? ''}: ${(element.getAttribute('aria-label') ?? element.textContent ?? '').slice(0, 50)}`;
    const isHidden = (element: Element): boolean => {
      for (let one: Element | null = element; one && one !== layer; one = one.parentElement)
        if (getComputedStyle(one).clipPath !== 'none') return true;
      return !element.checkVisibility();
    };
    if (document.documentElement.scrollWidth > innerWidth) problems.add('the page scrolls sideways');
    for (const element of [layer, ...layer.querySelectorAll('*')]) {
      if (element.closest('svg, option, datalist, .hg-tabs, .hg-chips, .hg-list[tabindex], pre') || isHidden(element))
        continue;
      const { left, right, width } = element.getBoundingClientRect();
      if (width === 0) continue;
      if (right > innerWidth + 1 || left < -1) problems.add(`beyond the window: ${nameOf(element)}`);
      const { overflowX, textOverflow } = getComputedStyle(element);
      const isField = element.matches('input, textarea, select');
      if (
        !isField &&
        overflowX !== 'visible' &&
        textOverflow === 'clip' &&
        element.scrollWidth > element.clientWidth + 1
      ) {
        const { right: end } = element.getBoundingClientRect();
        const wide = [...element.querySelectorAll('*')].find((one) => one.getBoundingClientRect().right > end);
        problems.add(`scrolls sideways: ${nameOf(element)}, because of ${wide ? nameOf(wide) : 'a text'}`);
      }
      if (
        element.matches('button, a, label') &&
        element.scrollWidth > element.clientWidth + 1 &&
        element.clientWidth > 0
      )
        problems.add(`its text does not fit: ${nameOf(element)}`);
    }
    for (const control of layer.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea')) {
      if (isHidden(control)) continue;
      // As the browser does when the control gets the focus.
      control.scrollIntoView({ block: 'nearest' });
      const { left, top, width, height } = control.getBoundingClientRect();
      if (width === 0) continue;
      const found = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20));
      const target = control.closest('label') ?? control;
      if (!found || !target.contains(found))
        problems.add(`can't be reached: ${nameOf(control)}, below ${found ? nameOf(found) : 'the edge of the window'}`);
    }
    return [...problems];
  }, selector);
