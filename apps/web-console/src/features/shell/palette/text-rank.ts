/** How well a text matches, from the best to the worst. */
export const RANK = { exact: 0, prefix: 1, wordStart: 2, part: 3 } as const;
export type Rank = (typeof RANK)[keyof typeof RANK];

/** Texts are compared without their case, and in one form of Unicode. */
export const folded = (text: string): string => text.normalize('NFC').toLowerCase();

/**
 * How a text contains another one; undefined when it does not. Both are folded, and no character has a special
 * meaning.
 */
export function rankOf(text: string, wanted: string): Rank | undefined {
  const at = text.indexOf(wanted);
  if (at < 0) return undefined;
  if (at === 0) return text.length === wanted.length ? RANK.exact : RANK.prefix;
  return startsWord(text, wanted, at) ? RANK.wordStart : RANK.part;
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** @param first the index of the first occurrence */
function startsWord(text: string, wanted: string, first: number): boolean {
  for (let at = first; at > 0; at = text.indexOf(wanted, at + 1))
    if (!LETTER_OR_DIGIT.test(text.charAt(at - 1))) return true;
  return false;
}

/** Whether all letters of a text occur in another one, in this order: "wb1" in "web-01". */
export function hasLetters(text: string, wanted: string): boolean {
  let at = -1;
  for (const letter of wanted) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** The part of a label that a search has found, for its mark; undefined when there is no single one. */
export function markOf(label: string, wanted: string): readonly [from: number, to: number] | undefined {
  const text = folded(label);
  const part = folded(wanted.trim());
  // Some letters are longer or shorter once they are folded, so that positions do not match.
  if (part === '' || text.length !== label.length) return undefined;
  const at = text.indexOf(part);
  return at < 0 ? undefined : [at, at + part.length];
}
