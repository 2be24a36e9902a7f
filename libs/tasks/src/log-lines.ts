/** The longest line of a log; the rest of a longer one is cut. */
export const MAX_LINE_CHARS = 4096;
/** No more of one text is looked at, so that a program that never ends its line costs no more than another. */
const MAX_TEXT_CHARS = 262_144;

/** Colors and cursor movements of terminals: CSI and OSC sequences, and the short ones. */
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
/** Control characters but the tab, and marks that reverse the direction of text or end a line. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * The lines of a text from a program, without control characters. Of a line that was overwritten with `\r`, the last
 * state is kept.
 */
export function logLines(text: string): string[] {
  const rest = text.length - MAX_TEXT_CHARS;
  const lines = text.slice(0, MAX_TEXT_CHARS).split('\n');
  // The newline at the end of the text begins no further line.
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  const cleaned = lines.map(clean);
  if (rest > 0) cleaned.push(`[${rest.toLocaleString('en')} more characters were cut]`);
  return cleaned;
}

function clean(line: string): string {
  const end = line.endsWith('\r') ? line.length - 1 : line.length;
  const last = line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
  // Escape sequences take some of the length, but not all of it.
  const head = last
    .slice(0, 4 * MAX_LINE_CHARS)
    .replace(ESCAPES, '')
    .replace(CONTROLS, '');
  const shown = head.slice(0, MAX_LINE_CHARS);
  const rest = head.length - shown.length + Math.max(0, last.length - 4 * MAX_LINE_CHARS);
  return rest > 0 ? `${shown} [${rest.toLocaleString('en')} more characters were cut]` : shown;
}
