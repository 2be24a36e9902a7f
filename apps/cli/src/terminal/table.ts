import { printable } from './printable.js';

export interface Column<T> {
  readonly title: string;
  readonly of: (row: T) => string | number | boolean | undefined | null;
  /** Only with `-o wide`. */
  readonly isWide?: boolean;
}

const MIN_GAP = '  ';

/** Rows with aligned columns and a line of titles. Texts of the service become safe for the terminal here. */
export function formatTable<T>(rows: readonly T[], columns: readonly Column<T>[], isWide = false): string {
  const shown = columns.filter((column) => isWide || !column.isWide);
  const lines = [
    shown.map(({ title }) => title),
    ...rows.map((row) => shown.map(({ of }) => printable(String(of(row) ?? '')) || '-')),
  ];
  const widths = shown.map((_, index) => lines.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), 0));
  return lines
    .map((line) => {
      const cells = line.map((cell, index) => (index === line.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)));
      return `${cells.join(MIN_GAP)}\n`;
    })
    .join('');
}
