import type { Page } from 'playwright-core';

export interface Unbracketed {
  readonly text: string;
  /** The element and its parent, to find it in the source. */
  readonly element: string;
}

/**
 * The texts of a page that are outside of all brackets and no data: those bypass the catalog. Data is marked with
 * `translate="no"`, and the sentences of the service with `lang="en"`. Brackets that an element leaves open, and those
 * in an element that is marked as data, are reported as well, because they would hide other texts.
 * @param part the selector of the part to check; by default the whole page
 */
export const unbracketed = (page: Page, part = 'body'): Promise<Unbracketed[]> =>
  page.evaluate((selector) => {
    const found: Unbracketed[] = [];
    const nameOf = ({ localName, classList }: Element): string => [localName, ...classList].join('.');
    const report = (text: string, element: Element): void => {
      const { parentElement: parent } = element;
      found.push({ text, element: `${parent ? `${nameOf(parent)} > ` : ''}${nameOf(element)}` });
    };
    /** @returns the depth after the text */
    const read = (text: string, before: number, element: Element, isData: boolean): number => {
      let depth = before;
      let outside = '';
      for (const character of text) {
        if (character === '⟦') depth++;
        else if (character === '⟧') depth--;
        else if (depth === 0) outside += character;
      }
      if (isData && /[⟦⟧]/.test(text)) report(`marked as data: ${text}`, element);
      if (!isData && /\p{L}{2}/u.test(outside)) report(outside.replace(/^[\s,·:(]+|[\s,·:)]+$/g, ''), element);
      return depth;
    };
    const visit = (element: Element, before: number, isInData: boolean): void => {
      if (element.matches('style, script, noscript, code, kbd, pre, time')) return;
      const mark = element.getAttribute('translate');
      const isData = mark === 'no' || element.getAttribute('lang') === 'en' || (isInData && mark !== 'yes');
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
        const text = element.getAttribute(name) ?? '';
        // A placeholder of one word is an example of a value.
        if (name === 'placeholder' && /^\S+$/.test(text) && !text.includes('⟦')) continue;
        if (read(text, 0, element, isData) !== 0) report(`open bracket in ${name}: ${text}`, element);
      }
      // The user has typed it.
      if (element.matches('textarea')) return;
      let depth = before;
      for (const child of element.childNodes) {
        if (child instanceof Element) visit(child, depth, isData);
        else if (child.nodeType === Node.TEXT_NODE) depth = read(child.textContent ?? '', depth, element, isData);
      }
      if (depth !== before) report(`open bracket: ${element.textContent}`, element);
    };
    for (const root of document.querySelectorAll(selector)) visit(root, 0, false);
    return found;
  }, part);
