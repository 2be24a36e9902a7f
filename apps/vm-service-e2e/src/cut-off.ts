import type { Page } from 'playwright-core';

/** Elements that reach beyond the window or beyond a frame, except for those in a row that scrolls, such as tabs. */
export const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const problems: string[] = [];
    for (const element of document.querySelectorAll('header, header *, main, main *')) {
      if (element.closest('.hg-hidden, thead, .hg-tabs, .hg-chips, .hg-table, svg')) continue;
      const { width, left, right } = element.getBoundingClientRect();
      const { clipPath, overflowX } = getComputedStyle(element);
      if (width === 0 || clipPath !== 'none' || element.closest('[class*="-button"], .hg-brand')) continue;
      const name = `${element.tagName}.${element.className}: ${element.textContent?.slice(0, 40) ?? ''}`;
      if (right > window.innerWidth + 1 || left < -1) problems.push(`beyond the window: ${name}`);
      if (overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1) problems.push(`scrolls: ${name}`);
    }
    return problems;
  });
