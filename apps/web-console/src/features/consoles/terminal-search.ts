import type { Terminal } from '@xterm/xterm';

/** Where a text is in the terminal's buffer, in cells. */
export interface Hit {
  readonly row: number;
  readonly column: number;
  readonly length: number;
}

/** More are not counted one by one. */
const MAX_HITS = 1_000;

/** The places of a text in the terminal, from the oldest line; upper and lower case are the same. */
export function hitsIn({ buffer: { active }, cols }: Pick<Terminal, 'buffer' | 'cols'>, text: string): Hit[] {
  const wanted = text.toLowerCase();
  const hits: Hit[] = [];
  if (wanted === '') return hits;
  for (let first = 0; first < active.length; first++) {
    let line = active.getLine(first)?.translateToString(false) ?? '';
    let last = first;
    // A long line is wrapped, and a text may be at the end of one row and at the beginning of the next.
    while (active.getLine(last + 1)?.isWrapped) line += active.getLine(++last)?.translateToString(false) ?? '';
    const lower = line.toLowerCase();
    for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, at + wanted.length)) {
      hits.push({ row: first + Math.floor(at / cols), column: at % cols, length: wanted.length });
      if (hits.length === MAX_HITS) return hits;
    }
    first = last;
  }
  return hits;
}

/** Selects a hit and scrolls to it, with some lines before it. */
export function showHit(terminal: Pick<Terminal, 'select' | 'scrollToLine' | 'rows'>, hit: Hit): void {
  terminal.select(hit.column, hit.row, hit.length);
  terminal.scrollToLine(Math.max(0, hit.row - Math.floor(terminal.rows / 2)));
}
