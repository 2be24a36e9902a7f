import { entryProblem } from '../config/prefix-table.js';

export const MAX_FILE_BYTES = 8 * 1024 * 1024;
export const MAX_ENTRIES = 100_000;
/** Lines that a message names. */
const MAX_NAMED_LINES = 10;
const MAX_SHOWN_CHARACTERS = 60;

/**
 * The entries of a list: an address or a network per line. After `#` or `;`, a line is a comment.
 * @returns the problems instead, with the numbers of their lines: a list is in force as a whole or not at all
 */
export function parseDenyFile(text: string): { entries: string[] } | { problems: string[] } {
  const entries: string[] = [];
  const problems: string[] = [];
  let bad = 0;
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const [entry = ''] = line.split(/[#;]/, 1);
    const bare = entry.trim();
    if (bare === '') continue;
    const problem = entryProblem(bare);
    if (problem === undefined) entries.push(bare);
    else if (++bad <= MAX_NAMED_LINES) problems.push(`line ${index + 1}: "${shown(bare)}" ${problem}`);
  }
  if (bad > MAX_NAMED_LINES) problems.push(`and ${bad - MAX_NAMED_LINES} more lines`);
  if (entries.length > MAX_ENTRIES) problems.push(`has ${entries.length} entries; use at most ${MAX_ENTRIES}`);
  return problems.length > 0 ? { problems } : { entries };
}

/** Control characters would forge lines of a terminal. */
const shown = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?').slice(0, MAX_SHOWN_CHARACTERS);
