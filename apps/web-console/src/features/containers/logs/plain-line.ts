import { plural } from '@lingui/core/macro';

/** The longest line that is shown; of a longer one, the number of the other characters. */
export const MAX_LINE_CHARS = 4000;

/** Sequences that move the cursor, change colors, set titles or open links. Source: ECMA-48, 5.4 and 5.6. */
const SEQUENCES =
  /\u001b(?:\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\x20-\x2f]*[\x30-\x7e])/g;
/** Control characters besides the tab, characters that change the direction of text or are invisible, surrogates. */
const UNPRINTABLE = /(?!\t)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/**
 * A line of a log as it may be shown: it can't control anything, and it can't hide or reverse other text. A carriage
 * return in it begins the line again, as a terminal shows the progress of a download.
 */
export function plainLine(line: string): string {
  const text = line.replace(SEQUENCES, '');
  let end = text.length;
  // A regular expression would look for the end of the line after each of many carriage returns.
  while (text[end - 1] === '\r') end--;
  const last = text.slice(text.lastIndexOf('\r', end - 1) + 1, end).replace(UNPRINTABLE, '');
  if (last.length <= MAX_LINE_CHARS) return last;
  const shown = last.slice(0, MAX_LINE_CHARS);
  const others = last.length - MAX_LINE_CHARS;
  return `${shown}… ${plural(others, { one: '(# more character)', other: '(# more characters)' })}`;
}
