import { i18n } from '@lingui/core';
import { compileMessage } from '@lingui/message-utils/compileMessage';

const [OPEN, CLOSE] = ['⟦', '⟧'];
const BRACKET = new RegExp(`[${OPEN}${CLOSE}]`);

/** Puts each text of the catalog into brackets. Before the first text is shown. */
export function bracketTexts(): void {
  i18n.setMessagesCompiler((message) => [OPEN, ...compileMessage(message), CLOSE]);
}

export const showTextsAsTheyAre = (): void => void i18n.setMessagesCompiler(compileMessage);

const ATTRIBUTES = ['aria-label', 'title', 'placeholder', 'alt'];

/**
 * The texts of an element that are outside of all brackets and no data: those bypass the catalog. Data is marked with
 * `translate="no"`, and the sentences of the service with `lang="en"`. Brackets that an element leaves open, and those
 * in an element that is marked as data, are reported as well, because they would hide other texts.
 */
export function unbracketed(root: Element): string[] {
  const found = new Set<string>();
  /** Returns the depth after the text. */
  const read = (text: string, before: number, isData: boolean): number => {
    let depth = before;
    let outside = '';
    for (const character of text) {
      if (character === OPEN) depth++;
      else if (character === CLOSE) depth--;
      else if (depth === 0) outside += character;
    }
    if (isData && BRACKET.test(text)) found.add(`marked as data: ${text}`);
    if (!isData && /\p{L}{2}/u.test(outside)) found.add(outside.replace(/^[\s,·:(]+|[\s,·:)]+$/g, ''));
    return depth;
  };
  const visit = (element: Element, before: number, isInData: boolean): void => {
    if (/^(STYLE|SCRIPT|CODE|KBD|PRE|TIME)$/.test(element.tagName)) return;
    const mark = element.getAttribute('translate');
    const isData = mark === 'no' || element.getAttribute('lang') === 'en' || (isInData && mark !== 'yes');
    for (const name of ATTRIBUTES) {
      const text = element.getAttribute(name) ?? '';
      // A placeholder of one word is an example of a value.
      if (name === 'placeholder' && /^\S+$/.test(text) && !BRACKET.test(text)) continue;
      if (read(text, 0, isData) !== 0) found.add(`open bracket in ${name}: ${text}`);
    }
    let depth = before;
    for (const child of element.childNodes) {
      if (child instanceof Element) visit(child, depth, isData);
      else if (child.nodeType === Node.TEXT_NODE) depth = read(child.textContent ?? '', depth, isData);
    }
    if (depth !== before) found.add(`open bracket: ${element.textContent}`);
  };
  visit(root, 0, false);
  return [...found];
}
