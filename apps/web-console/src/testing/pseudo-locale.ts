import { i18n } from '@lingui/core';
import { compileMessage } from '@lingui/message-utils/compileMessage';

const [OPEN, CLOSE] = ['⟦', '⟧'];

/** Puts each text of the catalog into brackets. Before the first text is shown. */
export function bracketTexts(): void {
  i18n.setMessagesCompiler((message) => [OPEN, ...compileMessage(message), CLOSE]);
}

export const showTextsAsTheyAre = (): void => void i18n.setMessagesCompiler(compileMessage);

const ATTRIBUTES = ['aria-label', 'title', 'placeholder', 'alt'];

/** The texts of an element outside of all brackets: data, or texts that bypass the catalog. */
export function unbracketed(root: Element): string[] {
  const found = new Set<string>();
  let depth = 0;
  const read = (text: string): void => {
    let outside = '';
    for (const character of text) {
      if (character === OPEN) depth++;
      else if (character === CLOSE) depth--;
      else if (depth === 0) outside += character;
    }
    if (/\p{L}{2}/u.test(outside)) found.add(outside.trim());
  };
  const visit = (element: Element): void => {
    if (/^(STYLE|SCRIPT|CODE|KBD|PRE|TIME)$/.test(element.tagName)) return;
    for (const name of ATTRIBUTES) if (element.hasAttribute(name)) read(element.getAttribute(name) ?? '');
    for (const child of element.childNodes) {
      if (child instanceof Element) visit(child);
      else if (child.nodeType === Node.TEXT_NODE) read(child.textContent ?? '');
    }
  };
  visit(root);
  return [...found];
}
