import type { Page } from 'playwright-core';

/** The visible texts of a page outside of all brackets: data, or texts that bypass the catalog. */
export const unbracketed = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found = new Set<string>();
    let depth = 0;
    const read = (text: string): void => {
      let outside = '';
      for (const character of text) {
        if (character === '⟦') depth++;
        else if (character === '⟧') depth--;
        else if (depth === 0) outside += character;
      }
      if (/\p{L}{2}/u.test(outside)) found.add(outside.trim());
    };
    const visit = (element: Element): void => {
      if (element.matches('style, script, noscript, code, kbd, pre, time')) return;
      for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
        if (element.hasAttribute(name)) read(element.getAttribute(name) ?? '');
      for (const child of element.childNodes) {
        if (child instanceof Element) visit(child);
        else if (child.nodeType === Node.TEXT_NODE) read(child.textContent ?? '');
      }
    };
    visit(document.body);
    return [...found];
  });
