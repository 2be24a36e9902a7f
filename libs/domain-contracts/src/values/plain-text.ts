/** The longest text for people; the rest of a longer one is cut. */
export const MAX_PLAIN_CHARS = 2000;

/** Control characters, invisible characters that change the direction of text, line separators and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\ufffe\uffff]/gu;
const SEPARATOR = /[\s\p{Cc}\u2028\u2029]+/gu;
const HAS_UNPRINTABLE = new RegExp(UNPRINTABLE.source, 'u');

/**
 * A text that a person may read in a terminal, a log or a page, on one line. Every text that comes from outside, such
 * as from a server, a cluster, a guest or a plugin, goes through this before it becomes an error, a reason, an event or
 * a line of a log: it can neither control a terminal nor reverse the text around it.
 */
export function plainText(text: string, maxChars = MAX_PLAIN_CHARS): string {
  if (text.length <= maxChars && !HAS_UNPRINTABLE.test(text)) return text;
  // Cuts before replacing, so that the work is bounded.
  const line = text
    .slice(0, 4 * maxChars)
    .replace(SEPARATOR, ' ')
    .replace(UNPRINTABLE, '')
    .trim();
  const chars = [...line];
  const isCut = chars.length > maxChars || text.length > 4 * maxChars;
  return isCut ? `${chars.slice(0, maxChars - 1).join('')}…` : line;
}

/** A value from outside, without what can't be printed and without a mark where it was cut. */
export function plainValue(text: string, maxChars: number): string {
  const printable = text.slice(0, 4 * maxChars).replace(UNPRINTABLE, '');
  return [...printable].slice(0, maxChars).join('');
}
