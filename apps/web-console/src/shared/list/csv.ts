import type { ListColumns } from './list-kind.js';

/** Characters that start a formula in a spreadsheet. */
const FORMULA = /^[=+\-@\t\r]/;

/** The rows as CSV, with the columns that are shown. Source: RFC 4180 */
export function csvOf<E>(rows: readonly E[], columns: ListColumns<E>, shown: readonly string[]): string {
  const lines = [
    shown.map((name) => columns[name]?.label ?? name),
    ...rows.map((row) =>
      shown.map((name) => {
        const column = columns[name];
        return column ? (column.text?.(row) ?? String(column.order(row))) : '';
      }),
    ),
  ];
  return lines.map((line) => `${line.map(field).join(',')}\r\n`).join('');
}

const field = (text: string): string => {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
