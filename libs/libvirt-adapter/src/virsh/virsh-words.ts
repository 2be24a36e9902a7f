/** Quotes a word for virsh's own command parser; no shell is involved. */
export const quote = (word: string): string => `"${word.replace(/["\\]/g, '\\$&')}"`;

/** A virsh without readline reads lines of up to 1,023 bytes, two markers included. */
const MAX_LENGTH = 800;

/**
 * Whether virsh can read the command from its standard input. It edits lines there: at a tab it completes a file name,
 * for example.
 */
export function isTypeable(words: readonly string[]): boolean {
  const line = words.map(quote).join(' ');
  return !/[\x00-\x1f\x7f]/.test(line) && Buffer.byteLength(line) <= MAX_LENGTH;
}
