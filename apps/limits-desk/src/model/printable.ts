/** More is cut in the middle, so that a name can't fill the page. */
const MAX_CHARACTERS = 120;

/**
 * Characters that are invisible, or that change the direction or the position of others: controls, formats such as
 * right-to-left overrides, separators of lines, lone surrogates, and private or unassigned ones.
 */
const HIDDEN = /[\p{C}\u2028\u2029]/gu;

/**
 * A name that a stranger chose, so that it can't look like another one: hidden characters are escapes such as
 * `\\u{202e}`, and a long name is cut in the middle.
 */
export function printable(text: string): string {
  const characters = [...text];
  const head = MAX_CHARACTERS / 2;
  const cut =
    characters.length <= MAX_CHARACTERS
      ? text
      : `${characters.slice(0, head).join('')}…${characters.slice(-head).join('')}`;
  return cut.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
